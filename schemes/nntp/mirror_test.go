package nntp

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestMirrorScope tests that the scope of a list of groups is its server.
func TestMirrorScope(t *testing.T) {
	for url, want := range map[string]string{
		"news:comp.*":           "news:",
		"news://h/comp.*":       "news://h/",
		"nntp://h/?x":           "nntp://h/",
		"nntp://h/a,b":          "nntp://h/",
		"nntp://h/comp.lang.go": "nntp://h/comp.lang.go",
		"news:a*b@c":            "news:a*b@c", // an article
	} {
		u := uri.MustParse(url)
		if got, ok := mirrorRules(u.Scheme() == "news").Subtree(u); !ok || got.String() != want {
			t.Errorf("%s: got %s, %t, want %s", url, got, ok, want)
		}
	}
}

// TestArticleURLs tests the URLs of an article by message-id and by number.
func TestArticleURLs(t *testing.T) {
	for _, c := range []struct{ group, entry, id, want, number string }{
		{"nntp://h:81/g", "nntp://h:81/g/7", "<a/b@c>", "news://h:81/a%2Fb@c", "nntp://h:81/g/7"},
		{"news://h/g", "nntp://h/g/7", "<a@c>", "news://h/a@c", "nntp://h/g/7"},
		{"snews://h/g/", "nntps://h/g/7", "<a@c>", "snews://h/a@c", "nntps://h/g/7"},
		{"news:g", "nntp://h/g/7", "<a@c>", "", ""}, // the server is unknown
		{"nntp://h/g", "nntp://h/g/7", "", "", ""},
		{"nntp://h/g", "nntp://h/g/7", "<no-at>", "", ""},
	} {
		e := fetch.Entry{URL: uri.MustParse(c.entry), Extra: map[string]string{"message_id": c.id, "number": "7"}}
		got, number, ok := articleURLs(uri.MustParse(c.group), e.URL, e.Extra)
		if ok != (c.want != "") || ok && (got.String() != c.want || number != c.number) {
			t.Errorf("%s %s: got %s, %s, %t, want %s, %s", c.group, c.id, got, number, ok, c.want, c.number)
		}
	}
}

// TestMessageURL tests the URLs of articles and newsgroups that an article
// refers to.
func TestMessageURL(t *testing.T) {
	for _, c := range []struct{ url, id, want string }{
		{"news:2@h", "a/b@c", "news:a%2Fb@c"},
		{"nntp://h:81/g/7", "a@c", "news://h:81/a@c"},
		{"nntps://h/g/7", "comp.lang.c", "snews://h/comp.lang.c"},
		{"snews:2@h", "a@c", "snews:a@c"},
	} {
		u := uri.MustParse(c.url)
		for _, s := range Schemes(Options{}) {
			if s.Name != u.Scheme() {
				continue
			}
			if got, err := s.Traits.Message(u, c.id); err != nil || got.String() != c.want {
				t.Errorf("%s: got %s, %v, want %s", c.url, got, err, c.want)
			}
		}
	}
}
