package crumbs

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestOf(t *testing.T) {
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
		"news:a@b":                        "",
		"telnet://h/":                     "",
		"mid:a/b":                         "",
	} {
		var got []string
		for _, c := range Of(uri.MustParse(u)) {
			got = append(got, c.Name+"="+c.URL.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", u, got, want)
		}
	}
	if n := len(Of(uri.MustParse("http://h/" + strings.Repeat("a/", 1000)))); n > maxCrumbs+1 {
		t.Errorf("%d crumbs", n)
	}
}
