package guard

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// link returns the permission for links in a page.
func link(page, peer string, anyQuery bool) Permission {
	p := Permission{Level: Link, AnyQuery: anyQuery, Source: fetch.Source{URL: uri.MustParse(page)}}
	if peer != "" {
		p.Source.Peer = netip.MustParseAddr(peer)
	}
	return p
}

// TestSign signs permissions and verifies them for the same and for other URLs.
func TestSign(t *testing.T) {
	k := NewKey()
	for name, c := range map[string]struct {
		permission  Permission
		target      string
		also, never []string // URLs for which the signature is valid and invalid
	}{
		"link": {link("gopher://a.example/1/", "192.0.2.1", false), "gopher://b.example/0/x?q",
			[]string{"gopher://b.example/0/x?q#part"}, []string{"gopher://b.example/0/x", "gopher://b.example/0/y?q", "gophers://b.example/0/x?q"}},
		"form": {link("http://a.example/", "", true), "http://b.example/find",
			[]string{"http://b.example/find?q=1", "http://b.example/find?", "http://b.example/find#x"}, []string{"http://b.example/find/", "http://b.example/", "http://b.example/find%3Fq"}},
		"IPv6 peer": {link("ftp://[2001:db8::1]/", "fe80::1%eth0", false), "ftp://b.example/", nil, []string{"ftp://b.example//"}},
		"entered":   {Permission{Level: Entered}, "http://b.example/", nil, []string{"http://b.example/?", "http://b.example"}},
		"confirmed": {Permission{Level: Confirmed}, "http://10.0.0.1/", nil, []string{"http://10.0.0.2/", "http://10.0.0.1:81/"}},
	} {
		signature := k.Sign(c.permission, uri.MustParse(c.target))
		for _, also := range append(c.also, c.target) {
			got, ok := k.Verify(signature, uri.MustParse(also))
			if !ok || got != c.permission {
				t.Errorf("%s: %s: got %v, %v, want %v", name, also, got, ok, c.permission)
			}
		}
		for _, never := range c.never {
			if got, ok := k.Verify(signature, uri.MustParse(never)); ok {
				t.Errorf("%s: %s: the signature is valid: %v", name, never, got)
			}
		}
		if _, ok := NewKey().Verify(signature, uri.MustParse(c.target)); ok {
			t.Errorf("%s: another key accepts the signature", name)
		}
		for i := range signature {
			for _, b := range []byte("Alefcz-_") {
				changed := signature[:i] + string(b) + signature[i+1:]
				if _, ok := k.Verify(changed, uri.MustParse(c.target)); ok && changed != signature {
					t.Errorf("%s: the changed signature %s is valid", name, changed)
				}
			}
		}
	}
	if s := k.Sign(Permission{}, uri.MustParse("http://b.example/")); s != "" {
		t.Errorf("a public link has the signature %q", s)
	}
}

// TestSignedSource checks that a signature contains no password and no fragment
// of the page.
func TestSignedSource(t *testing.T) {
	k, target := NewKey(), uri.MustParse("http://b.example/")
	p, ok := k.Verify(k.Sign(link("http://user:secret@a.example/x#y", "", false), target), target)
	if got := p.Source.URL.Unredacted(); !ok || got != "http://a.example/x" {
		t.Errorf("got %q, %v", got, ok)
	}
}

func TestTokens(t *testing.T) {
	k := NewKey()
	all := []Purpose{FormToken, StartToken, LoginToken("a"), sessionToken("a"), PartToken("/a/"), PartToken("/b/")}
	for _, p := range all {
		for _, q := range all {
			if k.ValidToken(q, k.Token(p)) != (p == q) {
				t.Errorf("the token of %s for %s", p, q)
			}
		}
		if k.ValidToken(p, "") || k.ValidToken(p, NewKey().Token(p)) || len(k.Token(p)) < 22 {
			t.Errorf("%s: a wrong token is valid", p)
		}
		for _, of := range []kind{kindLink, kindForm, kindEntered, kindConfirmed} {
			if k.ValidToken(p, k.mac(of, string(p), "")) {
				t.Errorf("%s: a signature is a token", p)
			}
		}
	}
}

// TestSession checks that each cookie names a session of its own, and that a
// changed cookie names none.
func TestSession(t *testing.T) {
	k := NewKey()
	first, second := k.NewSession(), k.NewSession()
	a, ok := k.Session(first)
	b, also := k.Session(second)
	if !ok || !also || a == b || a == "" {
		t.Errorf("sessions %q, %q", a, b)
	}
	if strings.Contains(k.Token(LoginToken(a)), a) || k.Token(LoginToken(a)) == k.Token(LoginToken(b)) {
		t.Error("two sessions have the same token")
	}
	for name, cookie := range map[string]string{
		"empty": "", "name only": a, "of another key": NewKey().NewSession(), "mixed": a + second[len(b):],
		"longer": first + "x", "token": k.Token(StartToken), "token of the forms": a + k.Token(LoginToken(a)),
	} {
		if got, ok := k.Session(cookie); ok || got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestOriginOf(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		fields string // header fields separated by "; "
		want   Origin
	}{
		"no fields":                   {"GET", "", Own},
		"navigation":                  {"GET", "Sec-Fetch-Site: none; Sec-Fetch-Mode: navigate; Sec-Fetch-Dest: document", Navigation},
		"navigation with Origin":      {"GET", "Origin: http://h:1; Sec-Fetch-Site: none; Sec-Fetch-Mode: navigate; Sec-Fetch-Dest: document", Own},
		"navigation of a frame":       {"GET", "Sec-Fetch-Site: none; Sec-Fetch-Mode: navigate; Sec-Fetch-Dest: iframe", Own},
		"navigation by POST":          {"POST", "Sec-Fetch-Site: none; Sec-Fetch-Mode: navigate; Sec-Fetch-Dest: document", Own},
		"image of the user":           {"GET", "Sec-Fetch-Site: none; Sec-Fetch-Mode: no-cors; Sec-Fetch-Dest: image", Own},
		"only the site":               {"GET", "Sec-Fetch-Site: none", Own},
		"own link":                    {"GET", "Sec-Fetch-Site: same-origin; Sec-Fetch-Mode: navigate; Sec-Fetch-Dest: document", Own},
		"cross-site":                  {"GET", "Sec-Fetch-Site: cross-site; Sec-Fetch-Mode: navigate; Sec-Fetch-Dest: document", Sandboxed},
		"cross-site in capitals":      {"GET", "Sec-Fetch-Site: CROSS-SITE", Sandboxed},
		"same-site":                   {"GET", "Sec-Fetch-Site: same-site", Foreign},
		"later value":                 {"GET", "Sec-Fetch-Site: x", Foreign},
		"two values":                  {"GET", "Sec-Fetch-Site: none; Sec-Fetch-Site: none", Foreign},
		"own Origin":                  {"POST", "Origin: http://h:1", Own},
		"own Origin with TLS":         {"POST", "Origin: https://H:1", Own},
		"own Origin, cross-site":      {"POST", "Origin: http://h:1; Sec-Fetch-Site: cross-site", Sandboxed},
		"foreign Origin":              {"POST", "Origin: http://evil.example", Foreign},
		"foreign Origin, same-origin": {"POST", "Origin: http://evil.example; Sec-Fetch-Site: same-origin", Foreign},
		"another port":                {"POST", "Origin: http://h:2", Foreign},
		"another scheme":              {"POST", "Origin: ftp://h:1", Foreign},
		"longer host":                 {"POST", "Origin: http://h:1.evil.example", Foreign},
		"path":                        {"POST", "Origin: http://h:1/", Foreign},
		"empty Origin":                {"POST", "Origin: ", Foreign},
		"two Origins":                 {"POST", "Origin: http://h:1; Origin: http://h:1", Foreign},
		"opaque Origin":               {"POST", "Origin: null", Sandboxed},
		"opaque Origin, cross-site":   {"POST", "Origin: null; Sec-Fetch-Site: cross-site", Sandboxed},
		"opaque Origin, same-site":    {"POST", "Origin: null; Sec-Fetch-Site: same-site", Sandboxed},
		"no referrer":                 {"POST", "Origin: null; Sec-Fetch-Site: same-origin", Own},
	} {
		header := http.Header{}
		for field := range strings.SplitSeq(c.fields, "; ") {
			if name, value, ok := strings.Cut(field, ": "); ok {
				header.Add(name, value)
			}
		}
		if got := OriginOf(c.method, "h:1", header); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// FuzzVerify checks that a key accepts no signature that it has not made.
func FuzzVerify(f *testing.F) {
	k, other := NewKey(), NewKey()
	target := uri.MustParse("gopher://b.example/1/")
	for _, p := range []Permission{link("gopher://a.example/1/", "192.0.2.1", false), link("http://a.example/", "", true), {Level: Entered}} {
		f.Add(other.Sign(p, target))
	}
	f.Add("l")
	f.Add("")
	f.Fuzz(func(t *testing.T, signature string) {
		if p, ok := k.Verify(signature, target); ok {
			t.Errorf("%q is valid: %v", signature, p)
		}
	})
}
