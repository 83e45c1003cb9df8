package uri_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// FuzzNetURL compares the components of a URI with those that net/url finds, and
// the result of a relative reference with that of net/url. net/url is another
// program with other bounds. Texts that one of them rejects are not compared.
func FuzzNetURL(f *testing.F) {
	f.Add("http://user:pw@host.example:80/a%2Fb;c/d?q=1&r#frag", "../x/./y?z")
	f.Add("HTTP://[::1]:8080", "//other/")
	f.Add("mailto:a@host.example?subject=x", "#f")
	f.Add("//host/path", "?q")
	f.Add("a/b/c/../d", "/e")
	f.Fuzz(func(t *testing.T, text, reference string) {
		u, err := uri.Parse(text)
		if err != nil {
			return
		}
		n, err := url.Parse(text)
		if err != nil {
			return
		}
		compareNetURL(t, text, u, n)
		if u.Scheme() == "" || n.Opaque != "" || !strings.HasPrefix(n.Path, "/") {
			return // net/url resolves references against these in another way
		}
		r, err := uri.Parse(reference)
		if err != nil {
			return
		}
		m, err := url.Parse(reference)
		if err != nil || m.Scheme != "" {
			return
		}
		resolved, err := u.Resolve(r)
		if err != nil {
			return
		}
		compareNetURL(t, text+" and "+reference, resolved, n.ResolveReference(m))
	})
}

// compareNetURL compares the components of u with those of n.
func compareNetURL(t *testing.T, text string, u uri.URI, n *url.URL) {
	t.Helper()
	path := n.EscapedPath()
	if n.Opaque != "" {
		path = n.Opaque
	}
	host, _ := url.PathUnescape(u.Host())
	if port, _ := u.Port(); port != "" {
		host += ":" + port
	}
	query, _ := u.Query()
	fragment, _ := u.Fragment()
	for _, c := range []struct{ name, got, want string }{
		{"scheme", strings.ToLower(u.Scheme()), n.Scheme},
		{"host", strings.ToLower(host), strings.ToLower(strings.TrimSuffix(n.Host, ":"))},
		{"path", u.Path(), path},
		{"query", query, n.RawQuery},
		{"fragment", fragment, n.EscapedFragment()},
	} {
		if c.got != c.want {
			t.Errorf("%q: the %s is %q, according to net/url %q", text, c.name, c.got, c.want)
		}
	}
}
