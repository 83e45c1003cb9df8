package render

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestAsk checks the form of a Gopher+ item, with a field of each kind.
func TestAsk(t *testing.T) {
	e := fetch.Entry{Name: "Survey", URL: uri.MustParse("gopher://h/0/ask%09%09?"), Kind: fetch.Document, Size: -1, Extra: map[string]string{
		"ask": "Note: Hello <b>\nAsk: Your name\tx\"y\nAskP: Password\nAskL: Tale\nSelect: Like\t1\nChoose: Colour\tred\tgreen\nChooseF: File"}}
	page := newView("gopher://h/0/ask%09%09?", "application/gopher+-menu", "", e).page(t)
	contains(t, page, `<form class="ask" action="/query" method="post">`, "<p>Hello &lt;b&gt;</p>",
		`<input id="ask1" name="1" type="text" value="x&#34;y"`, `name="2" type="password"`, `<textarea id="ask3" name="3"`,
		`<input type="hidden" name="4" value="0">`, `<input type="checkbox" name="4" value="1" checked>`, `<option value="green">`,
		"a local file, which is not sent", `<input type="hidden" name="url" value="gopher://h/0/ask%09%09?">`)
	page = newView("gopher://h/0/ask%09%09?", "application/gopher+-menu", "", file("a", 1, 1)).page(t)
	contains(t, page, "The item has no form", "!<form")
}

// TestSearch checks the search forms of indexes and of listings that can be
// searched.
func TestSearch(t *testing.T) {
	query := func(u uri.URI, q fetch.Search) (uri.URI, error) {
		if u.Path() == "/1menu" {
			return u, fetch.Unsupported.Errorf("no index")
		}
		return u, nil
	}
	for name, c := range map[string]struct {
		url  string
		kind fetch.Kind
		want []string
	}{
		"index":       {"gopher://h/7find", fetch.Index, []string{`action="/query"`, `name="words"`, `value="gopher://h/7find"`}},
		"results":     {"gopher://h/7find%09moon", fetch.Menu, []string{`action="/query"`, "1 entry"}},
		"other index": {"gopher://h/1menu", fetch.Index, []string{"!<form", "not from this page"}},
		"menu":        {"gopher://h/1menu", fetch.Menu, []string{"!<form", "1 entry"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView(c.url, "text/x-list", "", file("a", 1, 1))
			v.Scheme.Query, v.Response.Kind = query, c.kind
			contains(t, v.page(t), c.want...)
		})
	}
}

// TestSession checks that the command is quoted for a shell, and that no
// password is shown.
func TestSession(t *testing.T) {
	v := &View{URL: uri.MustParse("telnet://guest:pw@h:2323/$(x)'y'"), Links: testLinks{}, Scheme: testScheme("telnet")}
	contains(t, v.page(t), `fetch &#39;telnet://h:2323/$(x)%27y%27&#39;`, "<dd>guest</dd>", `<a href="telnet://h:2323/`, "!pw")
}
