package http_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

type connUser struct{}

// userToken is a Negotiator whose token is the name of the user.
type userToken struct{ fixedToken }

func (userToken) Token(_ context.Context, _ func(context.Context, string) (net.Conn, error), _ string, login *fetch.Credential) (string, error) {
	return login.User, nil
}

// TestNegotiateConnection checks that a connection that a token has authenticated is
// not used for other users and not after a redirect. IIS and mod_auth_gssapi with
// GssapiConnectionBound authenticate connections.
func TestNegotiateConnection(t *testing.T) {
	t.Run("HTTP/1.1", func(t *testing.T) { negotiateConnection(t, false) })
	t.Run("HTTP/2", func(t *testing.T) { negotiateConnection(t, true) })
}

func negotiateConnection(t *testing.T, http2 bool) {
	var away string // the URL of another server
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := r.Context().Value(connUser{}).(*atomic.Value)
		if _, token, ok := strings.Cut(r.Header.Get("Authorization"), "Negotiate "); ok {
			user.Store(token)
		}
		name, _ := user.Load().(string)
		switch {
		case r.URL.Path == "/slash": // does not require a login
			w.Header().Set("Connection", "close") // so that the next request needs another connection
			http.Redirect(w, r, "/private", http.StatusFound)
		case name == "":
			w.Header().Set("WWW-Authenticate", "Negotiate")
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/away":
			http.Redirect(w, r, away, http.StatusFound)
		default:
			io.WriteString(w, name)
		}
	}))
	s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connUser{}, new(atomic.Value))
	}
	if s.EnableHTTP2 = http2; http2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	defer s.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL+"/slash", http.StatusFound)
	}))
	defer other.Close()
	away = other.URL + "/"
	policy := fetch.Typed()
	policy.Downgrade = true
	trusted := &tls.Config{RootCAs: x509.NewCertPool()}
	if http2 {
		trusted.RootCAs.AddCert(s.Certificate())
	}
	client := fetch.New(fetch.Options{Policy: policy, TLS: trusted}, web.Schemes(web.Options{Auth: web.Negotiate, Negotiator: userToken{}})...)
	defer client.Close()
	for _, c := range []struct {
		name, path, user string // user is "" for a request without a login; a field is "+" and its value
		want             string // the user that the server knows, or "" for status 401
	}{
		{"field of the caller", "/private", "+Negotiate carol", "carol"},
		{"first", "/private", "alice", "alice"},
		{"without a login", "/private", "", ""},
		{"NTLM of the caller", "/private", "+NTLM x", ""},
		{"other user", "/private", "bob", "bob"},
		{"first again", "/private", "alice", "alice"},
		{"back from another server", "/away", "alice", ""},
	} {
		req := &fetch.Request{URL: uri.MustParse(s.URL + c.path)}
		if field, ok := strings.CutPrefix(c.user, "+"); ok {
			req.Header = fetch.Header{{Name: "Authorization", Value: field}}
		} else if c.user != "" {
			req.Auth = &fetch.Credential{User: c.user}
		}
		got := ""
		resp, err := client.Do(t.Context(), req)
		if err == nil {
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			got = string(b)
		}
		if got != c.want || got == "" && fetch.FaultOf(err) != fetch.Auth {
			t.Errorf("%s: the server knows %q, want %q: %v", c.name, got, c.want, err)
		}
	}
}
