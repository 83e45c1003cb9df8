package links_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
)

// speculations returns the links that Speculate finds in a script of the page
// http://h.example/d/page.
func speculations(t testing.TB, text string) []string {
	t.Helper()
	var all []string
	for l, err := range links.Speculate(links.SchemeNamed, uri.MustParse("http://h.example/d/page"), strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Kind != links.Speculation {
			t.Errorf("%s has the kind %v", l.URL, l.Kind)
		}
		all = append(all, strings.TrimPrefix(l.URL.String(), "http://h.example"))
	}
	return all
}

func TestSpeculate(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"absolute URL":              {`var a = "http://other.example/x";`, "http://other.example/x"},
		"URL without a scheme":      {`a = '//cdn.example/lib'`, "http://cdn.example/lib"},
		"path":                      {"fetch(`/api/list`)", "/api/list"},
		"relative paths":            {`["./a", "../b", "img/c.png", "page.html?x=1"]`, "/d/a /b /d/img/c.png /d/page.html?x=1"},
		"escaped slashes":           {`{"u":"http:\/\/other.example\/y","v":"\u002fz\x2ft"}`, "http://other.example/y /z/t"},
		"quote in a comment":        {"// don't stop here: \"/after\"\n", "/after"},
		"quote in an expression":    {`s.replace(/'/g, ""); f('/q')`, "/q"},
		"duplicates":                {`"/a" "/a" '/a'`, "/a"},
		"media type":                {`"text/html"`, ""},
		"words, numbers, operators": {`"use strict" "a.b" "1/2" "/" "//" "./" "and/or" "..."`, ""},
		"templates and expressions": {"`/user/${id}` \"/a/{id}\" \"/^x$/\" '/a b'", ""},
		"script scheme":             {`"javascript://x.example/a"`, ""},
		"newline escape":            {`"/a\nb"`, ""},
		"incomplete escape":         {`"/a\u00"`, ""},
		"control character":         {`"/a\u0000b"`, ""},
		"unterminated string":       {`"/a`, ""},
		"long string":               {`"/` + strings.Repeat("a", 3000) + `"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(speculations(t, c.script), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSpeculateLimits checks the limits of a script and the error of a reader.
func TestSpeculateLimits(t *testing.T) {
	var many strings.Builder
	for i := range 5000 {
		many.WriteString("'/p" + strings.Repeat("a", i%100) + string(rune('a'+i/100%26)) + string(rune('a'+i/2600)) + "'")
	}
	if got := speculations(t, many.String()); len(got) != 1000 {
		t.Errorf("%d links", len(got))
	}
	for at := 30<<10 - 20; at < 34<<10; at += 7 { // around the end of a buffer
		script := strings.Repeat(" ", at) + `"/` + strings.Repeat("a", 1000) + `" '/b'`
		if got := speculations(t, script); len(got) != 2 {
			t.Fatalf("%d links in a string at %d", len(got), at)
		}
	}
	if got := speculations(t, strings.Repeat(" ", 8<<20)+"'/far'"); len(got) != 0 {
		t.Errorf("links behind the limit: %q", got)
	}
	failing := io.MultiReader(strings.NewReader("'/a'"), iotest.ErrReader(errors.ErrUnsupported))
	var last error
	for _, last = range links.Speculate(links.SchemeNamed, uri.MustParse("http://h.example/"), failing) {
	}
	if !errors.Is(last, errors.ErrUnsupported) {
		t.Errorf("error %v", last)
	}
}

func FuzzSpeculate(f *testing.F) {
	f.Add(`f("/a\/b", './c', "http:\u002f\u002fx.example")`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, u := range speculations(t, text) {
			if _, err := uri.ParseReference(u); err != nil {
				t.Errorf("%q: %v", u, err)
			}
		}
	})
}
