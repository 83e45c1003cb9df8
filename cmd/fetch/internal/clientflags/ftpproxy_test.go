package clientflags

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// TestFTPProxyFlags checks that the flags for an https proxy, and not those for
// servers, apply to the proxy of ftp URLs.
func TestFTPProxyFlags(t *testing.T) {
	var logins []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		login, _, _ := strings.Cut(r.Header.Get("Proxy-Authorization"), " ")
		logins = append(logins, login)
		w.Header().Set("Proxy-Authenticate", `Digest realm="r", nonce="n", qop="auth"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	s.StartTLS()
	defer s.Close()
	for _, c := range []struct {
		name  string
		flags proxyFlags
		want  string // methods of the logins
	}{
		{"-k for servers", proxyFlags{}, ""},
		{"--proxy-insecure", withInsecureProxy(proxyFlags{}), "Basic"},
		{"--proxy-digest", withInsecureProxy(proxyFlags{digest: true}), ",Digest"},
	} {
		logins = nil
		f := c.flags
		f.url, f.user = s.URL, "al:pw"
		if err := f.openTLS(t.Context(), &console.Streams{}, (&tlsFlags{}).settings()); err != nil {
			t.Fatal(err)
		}
		proxy, err := f.proxyFunc(func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		all, err := new(gatewayFlags).apply(schemes.All(schemes.Options{}), &f, proxy, false)
		if err != nil {
			t.Fatal(err)
		}
		o := fetch.Options{Policy: fetch.Typed(), Proxy: proxy, TLS: &tls.Config{InsecureSkipVerify: true}}
		client := fetch.New(o, all...)
		_, err = client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("ftp://127.0.0.1/a")})
		client.Close()
		if got := strings.Join(logins, ","); err == nil || got != c.want {
			t.Errorf("%s: the proxy got %q, want %q; %v", c.name, got, c.want, err)
		}
	}
}

func withInsecureProxy(f proxyFlags) proxyFlags {
	f.tls.Insecure = true
	return f
}
