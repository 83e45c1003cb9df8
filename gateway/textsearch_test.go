package gateway

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/warc/textindex"
)

// withTexts writes the text index of each archive.
func withTexts(t testing.TB) func(*Options) {
	return func(o *Options) {
		byName := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme
		for i := range o.Archives {
			a := &o.Archives[i]
			path := filepath.Join(t.TempDir(), "texts")
			if _, err := textindex.Build(t.Context(), path, a.Source, byName); err != nil {
				t.Fatal(err)
			}
			a.Text = textindex.New(path, a.Source, byName)
			t.Cleanup(func() { a.Text.Close() })
		}
	}
}

func TestTextSearch(t *testing.T) {
	h := newHandler(t, withTexts(t))
	search := func(values ...string) string {
		q := url.Values{"text": {values[0]}}
		for i := 1; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		return root + "?" + q.Encode()
	}
	for name, c := range map[string]struct {
		target string
		status int
		want   []string
	}{
		"page": {search("second"), 200, []string{`<h2>1 result</h2>`, `<a class="title" href="` + root + `20250101000000/http://a.example/">Two</a>`,
			`<p><mark>second</mark></p>`, `2025-01-01 00:00:00 UTC · text/html`, `value="second"`}},
		"article with markup in its subject": {search("cafe", "scheme", "news"), 200, []string{"&lt;script&gt;alert(1)", "<mark>café</mark> &lt;b&gt;",
			`<option value="news" selected>news</option>`, "!<script", "!g.example"}},
		"menu":                   {search("evil", "kind", "listing"), 200, []string{"<mark>Evil</mark>&#34;&gt;&lt;script&gt;x", `<option value="listing" selected>`}},
		"no result":              {search("<i>nothing"), 200, []string{"0 results", "No further text has all these words", "value=\"&lt;i&gt;nothing\""}},
		"empty form":             {search(" "), 200, []string{`name="text"`, `<option value="gopher">`, "!results"}},
		"only an excluded word":  {search("-first"), 400, []string{"The search is invalid"}},
		"next page":              {search("second", "page", "2"), 200, []string{`rel="prev"`, "page=1"}},
		"invalid page":           {search("second", "page", "x"), 200, []string{"1 result", "!rel=\"prev\""}},
		"form of the overview":   {root, 200, []string{`<form role="search" class="textsearch" action="` + root + `"`, "!fetch index"}},
		"form of the first page": {"/", 200, []string{"<h2>Search in texts</h2>", `<input type="hidden" name="archive" value="sample.warc.gz">`}},
		"from the first page":    {"/?text=a+b&archive=sample.warc.gz", 302, []string{"Location: " + root + "?text=a+b"}},
		"unknown archive":        {"/?text=a&archive=none", 404, nil},
	} {
		t.Run(name, func(t *testing.T) {
			checkResponse(t, get(h, "GET", c.target), c.status, c.want)
		})
	}
}

// TestTextIndexMissing checks the pages of an archive whose text index is missing
// or damaged.
func TestTextIndexMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts")
	h := newHandler(t, func(o *Options) {
		a := &o.Archives[0]
		a.Text = textindex.New(path, a.Source, fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme)
	})
	checkResponse(t, get(h, "GET", root), 200, []string{"<code>fetch index --text</code>", `!name="text"`})
	checkResponse(t, get(h, "GET", root+"?text=a"), 404, []string{"have no index"})
	checkResponse(t, get(h, "GET", "/"), 200, []string{"!Search in texts"})
	if err := os.WriteFile(path, []byte(strings.Repeat("damage ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	checkResponse(t, get(h, "GET", root+"?text=a"), 500, []string{"The text index cannot be used", "!" + path})
	checkResponse(t, get(newHandler(t, nil), "GET", root), 200, []string{"!fetch index"})
}
