package http_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// countedToken is a Negotiator whose tokens differ.
type countedToken struct {
	fixedToken
	count *int
}

func (c countedToken) Token(context.Context, func(context.Context, string) (net.Conn, error), string, *fetch.Credential) (string, error) {
	*c.count++
	return strconv.Itoa(*c.count), nil
}

// TestNegotiateHead checks that a GET request in place of HEAD gets another token.
// Servers of Kerberos reject a token that they have seen (RFC 4120 section 3.2.3).
func TestNegotiateHead(t *testing.T) {
	seen := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		switch {
		case token == "" || seen[token]:
			w.Header().Set("WWW-Authenticate", "Negotiate")
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		seen[token] = token != ""
	}))
	defer s.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, web.Schemes(web.Options{Auth: web.Negotiate, Negotiator: countedToken{count: new(int)}})...)
	defer client.Close()
	resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse(s.URL), Op: fetch.Stat, Auth: &fetch.Credential{}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
