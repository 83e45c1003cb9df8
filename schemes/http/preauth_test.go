package http_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestRedirectLoginChallenge checks that a login of [fetch.Options.RedirectLogin]
// is sent only after a challenge, and not with the method of another server.
func TestRedirectLoginChallenge(t *testing.T) {
	var got []string
	record := func(r *http.Request) {
		method, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got = append(got, method)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if record(r); r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Digest realm="x", nonce="y", qop="auth"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if record(r); r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/", http.StatusFound)
	}))
	defer first.Close()
	client := fetch.New(fetch.Options{
		Policy:        fetch.Typed(),
		RedirectLogin: func(fetch.Origin) *fetch.Credential { return &fetch.Credential{User: "alice", Password: "other"} },
	}, web.Schemes(web.Options{Auth: web.AnyAuth})...)
	defer client.Close()
	req := &fetch.Request{URL: uri.MustParse(first.URL), Auth: &fetch.Credential{User: "alice", Password: "first"}}
	resp, err := client.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if sent := strings.Join(got, ", "); sent != ", Basic, , Digest" {
		t.Errorf("methods %q", sent)
	}
}

// A fixedToken is a Negotiator with one token.
type fixedToken struct{}

func (fixedToken) Token(context.Context, func(context.Context, string) (net.Conn, error), string, *fetch.Credential) (string, error) {
	return "token", nil
}

func (fixedToken) Servers() []string { return nil }

// TestRedirectNegotiate checks that a login of [fetch.Options.RedirectLogin] is not
// used for Kerberos, because a redirect led to this server.
func TestRedirectNegotiate(t *testing.T) {
	for _, c := range []struct {
		name    string
		trusted bool // the Policy sends credentials to other origins
		want    string
	}{
		{"other origin", false, "first, first Negotiate, other"},
		{"trusted", true, "first, first Negotiate, other, other Negotiate, other, other Negotiate"},
	} {
		var got []string
		serve := func(name string, answer http.HandlerFunc) *httptest.Server {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				method, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
				if got = append(got, strings.TrimSpace(name+" "+method)); method == "" {
					w.Header().Set("WWW-Authenticate", "Negotiate")
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				answer(w, r)
			}))
			t.Cleanup(s.Close)
			return s
		}
		other := serve("other", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/again", http.StatusFound)
			}
		})
		first := serve("first", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/", http.StatusFound)
		})
		policy := fetch.Typed()
		policy.LocationTrusted = c.trusted
		client := fetch.New(fetch.Options{
			Policy:        policy,
			RedirectLogin: func(fetch.Origin) *fetch.Credential { return &fetch.Credential{User: "alice", Password: "other"} },
		}, web.Schemes(web.Options{Auth: web.Negotiate, Negotiator: fixedToken{}})...)
		resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse(first.URL), Auth: &fetch.Credential{User: "alice"}})
		if err == nil {
			resp.Body.Close()
		}
		client.Close()
		if sent := strings.Join(got, ", "); sent != c.want {
			t.Errorf("%s: requests %q, want %q", c.name, sent, c.want)
		}
	}
}
