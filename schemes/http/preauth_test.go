package http_test

import (
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
