package ldap_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

// FuzzLDIF: every listing is parsed, and its entries have valid URLs.
func FuzzLDIF(f *testing.F) {
	f.Add("version: 1\n\ndn: dc=x\na: b\n c\n\ndn:: ZGM9eQ==\n\n# reference: ldap://h/dc=z??sub\n")
	f.Add("dn: \xff\ndn::!\nnamingContexts: dc=x\n \n")
	menu := schemes()[0].Menu
	f.Fuzz(func(t *testing.T, text string) {
		for _, base := range []string{host, host + "dc=x??sub"} {
			n := 0
			for e, err := range menu(uri.MustParse(base), "text/x-ldif", strings.NewReader(text)) {
				if n++; err == nil && e.Kind != fetch.Info && e.URL.IsZero() || n > len(text)+1 {
					t.Errorf("%q: entry %+v", text, e)
				}
			}
		}
	})
}

// FuzzEntry: every response of a server is rejected, or becomes LDIF that has
// exactly its values.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(entry(1, "dc=x", "a", "b", "\xff", "c\nd") + done(1, 5, 0, "")))
	f.Add([]byte(message(1, 19, octets("ldap://h/")) + done(1, 5, 4, "limit")))
	f.Fuzz(func(t *testing.T, reply []byte) {
		c, _ := serve(t, answers(string(reply)))
		r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, host+"dc=x??sub"))
		for line := range strings.Lines(r.Body) {
			if len(line) > 600 || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(c rune) bool { return c < ' ' || c > '~' }) {
				if !strings.HasPrefix(line, "# reference: ") {
					t.Errorf("%q became %q", reply, line)
				}
			}
		}
	})
}

// FuzzLocator: a URL is rejected, or its plan is one search, and a search in it
// is valid.
func FuzzLocator(f *testing.F) {
	for _, s := range []string{"ldap://h/dc=x?cn,sn?sub?(&(a=b)(c=*d*))?!bindname=cn=a", "x500://h/c=GB/o=A%2FB", "ldaps://h/%3CGUID=1%3E??one"} {
		f.Add(s)
	}
	all := schemes()
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.Parse(s)
		if err != nil {
			return
		}
		for _, scheme := range all {
			if scheme.Name != u.Scheme() {
				continue
			}
			steps, err := scheme.Plan(&fetch.Request{URL: u})
			if err != nil {
				continue
			}
			if len(steps) != 1 {
				t.Errorf("%s: %v", s, steps)
			}
			found, err := scheme.Search(u, fetch.Search{Words: "a*)(b ü"})
			if err == nil {
				_, err = scheme.Plan(&fetch.Request{URL: found})
			}
			if err != nil {
				t.Errorf("%s: %v", s, err)
			}
		}
	})
}
