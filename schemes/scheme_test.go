package schemes_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/crumbs"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// TestCrumbs tests the listings above URLs of all schemes.
func TestCrumbs(t *testing.T) {
	c := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
	for u, want := range map[string]string{
		"http://h/":                       "",
		"http://h/a":                      "h=http://h/",
		"http://u:p@h:81/a/b%20c/d?q#f":   "h=http://u:***@h:81/ a=http://u:***@h:81/a/ b c=http://u:***@h:81/a/b%20c/",
		"ftp://h/a/b/":                    "h=ftp://h/ a=ftp://h/a/",
		"file:///a/b":                     "/=file:/// a=file:///a/",
		"file:///":                        "",
		"gopher://h":                      "",
		"gopher://h/1":                    "",
		"gopher://h/0/a.txt":              "h=gopher://h/",
		"gopher://h/0/docs/old/a.txt":     "h=gopher://h/ docs=gopher://h/1/docs old=gopher://h/1/docs/old",
		"gopher://h/0docs/a.txt":          "h=gopher://h/ docs=gopher://h/1docs",
		"nntp://h/comp.lang.c/5":          "h=nntp://h/ comp.lang.c=nntp://h/comp.lang.c",
		"imap://h/INBOX/;UID=20":          "h=imap://h/ INBOX=imap://h/INBOX",
		"wais://h/db/TEXT/0=a;1=/srv/x/y": "h=wais://h/ db=wais://h/db",
		"sftp://h/a/b":                    "h=sftp://h/ a=sftp://h/a/",
		"nfs://h/a/b":                     "h=nfs://h/ a=nfs://h/a/",
		"afs:/afs/cell/a":                 "/=afs:/ afs=afs:/afs/ cell=afs:/afs/cell/",
		"nntp:///comp.lang.c/5":           "",
		"news:a@b":                        "",
		"telnet://h/":                     "",
		"mid:a/b":                         "",
	} {
		var got []string
		parsed := uri.MustParse(u)
		for _, c := range crumbs.Of(c.Scheme(parsed.Scheme()), parsed) {
			got = append(got, c.Name+"="+c.URL.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", u, got, want)
		}
	}
}

// TestDefaultPorts checks that the ports of all schemes are those of package
// uri, so that archives store the same key for a URL with the default port and
// for one without a port. The driver of x500 is newer than these keys.
func TestDefaultPorts(t *testing.T) {
	for _, s := range schemes.All(schemes.Options{}) {
		if port, _ := uri.DefaultPort(s.Name); port != s.Port && s.Name != "x500" {
			t.Errorf("%s has port %d, but package uri has %d", s.Name, s.Port, port)
		}
	}
}
