package textindex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/textindex"
)

var byName = fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme

// A sample is a capture of a test archive. A response of HTTP has no media.
type sample struct{ date, url, media, body string }

func page(html string) string { return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html }

var samples = []sample{
	{"20240101", "http://a.example/", "", page("<title>The Moon</title><p>A <b>rock</b>et lands on the moon &amp; returns.<script>var hidden</script>")},
	{"20250101", "http://a.example/", "", page("<title>The Moon</title><p>The rocket did not land.")},
	{"20250601", "http://www.a.example/again", "", page("<p>Another rocket.")},
	{"20240101", "http://a.example/moved", "", "HTTP/1.1 301 Moved\r\nContent-Type: text/html\r\nLocation: /\r\n\r\n<p>rocket"},
	{"20240101", "http://a.example/sjis", "", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=shift_jis\r\n\r\n<p>\x93\xfa\x96{\x8c\xea\x82\xcc\x83e\x83L\x83X\x83g"},
	{"20240101", "gopher://g.example/1/", "application/gopher-menu", "iWelcome\t\tnull\t1\r\n0About rockets\t/about.txt\tg.example\t70\r\n.\r\n"},
	{"20240101", "gopher://g.example/0/about.txt", "text/plain", "caf\xe9 and pastries\r\n"},
	{"20240101", "news://n.example/2@example.org", "message/rfc822", "From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r\nSubject: Caf=?utf-8?q?=C3=A9?= rocket\r\n\r\nThe body \x1b[31mof the article\r\n"},
	{"20240101", "gopher://g.example/9/x.bin", "application/zip", "rocket"},
}

// write writes an archive with samples and returns its path.
func write(t testing.TB, dir, name string, samples []sample) string {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		at, err := time.Parse("20060102", s.date)
		if err != nil {
			t.Fatal(err)
		}
		c := warc.Capture{URL: uri.MustParse(s.url), Date: at}
		r := c.Resource(s.media, strings.NewReader(s.body))
		if s.media == "" {
			r = c.Response(strings.NewReader(s.body))
		}
		if _, err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// open opens the archive at path, and the index at path, which it builds.
func open(t testing.TB, path string) (*textindex.Index, textindex.Summary) {
	t.Helper()
	a, err := warc.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	s, err := textindex.Build(t.Context(), textindex.PathOf(path), a, byName)
	if err != nil {
		t.Fatal(err)
	}
	x := textindex.New(textindex.PathOf(path), a, byName)
	t.Cleanup(func() { x.Close() })
	return x, s
}

// found returns the results of a search as a text: the paths of the URLs.
func found(t testing.TB, x *textindex.Index, q textindex.Query) string {
	t.Helper()
	r, err := x.Search(t.Context(), q)
	if err != nil {
		return fetch.FaultOf(err).Error()
	}
	var all []string
	for _, h := range r.Hits {
		all = append(all, h.Line.Timestamp[:4]+" "+h.URL.String())
	}
	return strings.Join(all, ", ")
}

func TestSearch(t *testing.T) {
	x, s := open(t, write(t, t.TempDir(), "a.warc.gz", samples))
	if s.Added != 7 || s.Damaged != 0 {
		t.Errorf("summary %+v", s)
	}
	for name, c := range map[string]struct {
		q    textindex.Query
		want string
	}{
		"word across elements":   {textindex.Query{Words: "rocket lands"}, "2024 http://a.example/"},
		"title before text":      {textindex.Query{Words: "moon"}, "2025 http://a.example/, 2024 http://a.example/"},
		"case":                   {textindex.Query{Words: "MOON returns"}, "2024 http://a.example/"},
		"diacritics":             {textindex.Query{Words: "cafe"}, "2024 news://n.example/2@example.org, 2024 gopher://g.example/0/about.txt"},
		"decomposed diacritics":  {textindex.Query{Words: "cafe\u0301 pastries"}, "2024 gopher://g.example/0/about.txt"},
		"author":                 {textindex.Query{Words: "jorg"}, "2024 news://n.example/2@example.org"},
		"name in a menu":         {textindex.Query{Words: "about rockets"}, "2024 gopher://g.example/1/"},
		"phrase":                 {textindex.Query{Words: `"did not land"`}, "2025 http://a.example/"},
		"phrase in other order":  {textindex.Query{Words: `"land not"`}, ""},
		"phrase without its end": {textindex.Query{Words: `"did not land`}, "2025 http://a.example/"},
		"hyphen":                 {textindex.Query{Words: "not-land"}, "2025 http://a.example/"},
		"excluded word":          {textindex.Query{Words: "moon -lands"}, "2025 http://a.example/"},
		"excluded phrase":        {textindex.Query{Words: `moon -"rocket lands"`}, "2025 http://a.example/"},
		"only an excluded word":  {textindex.Query{Words: "-moon"}, "usage"},
		"no word":                {textindex.Query{Words: ` "" - * `}, "usage"},
		"script":                 {textindex.Query{Words: "hidden"}, ""},
		"charset, ideographs":    {textindex.Query{Words: "日本"}, "2024 http://a.example/sjis"},
		"katakana":               {textindex.Query{Words: "テキスト"}, "2024 http://a.example/sjis"},
		"ideographs not in text": {textindex.Query{Words: "本日"}, ""},
		"FTS5 operators":         {textindex.Query{Words: "rocket OR moon"}, ""},
		"FTS5 column":            {textindex.Query{Words: "title:moon"}, ""},
		"FTS5 syntax error":      {textindex.Query{Words: `moon) * ^ NEAR( {title}: "`}, ""},
		"quotes":                 {textindex.Query{Words: `moon""" lands`}, "2024 http://a.example/"},
		"SQL":                    {textindex.Query{Words: `moon'; drop table doc; --`}, ""},
		"facet as a word":        {textindex.Query{Words: "y32303234"}, ""},
		"year":                   {textindex.Query{Words: "moon", Year: "2024"}, "2024 http://a.example/"},
		"scheme":                 {textindex.Query{Words: "cafe", Scheme: "gopher"}, "2024 gopher://g.example/0/about.txt"},
		"kind":                   {textindex.Query{Words: "cafe", Kind: textindex.Article}, "2024 news://n.example/2@example.org"},
		"host":                   {textindex.Query{Words: "another", Host: "WWW.a.example"}, "2025 http://www.a.example/again"},
		"domain":                 {textindex.Query{Words: "another", Host: "a.example"}, "2025 http://www.a.example/again"},
		"other host":             {textindex.Query{Words: "another", Host: "xa.example"}, ""},
		"filter in the words":    {textindex.Query{Words: "year:2025 moon host:a.example"}, "2025 http://a.example/"},
		"unknown filter":         {textindex.Query{Words: "moon", Kind: `") OR (`}, ""},
		"limit":                  {textindex.Query{Words: "moon", Limit: 1}, "2025 http://a.example/"},
		"second page":            {textindex.Query{Words: "moon", Limit: 1, Skip: 1}, "2024 http://a.example/"},
		"too many words":         {textindex.Query{Words: strings.Repeat("moon ", 100)}, "usage"},
		"long word":              {textindex.Query{Words: strings.Repeat("x", 100_000)}, ""},
	} {
		if got := found(t, x, c.q); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestSnippet checks the parts of texts that results show.
func TestSnippet(t *testing.T) {
	long := strings.Repeat("filler ", 200)
	x, _ := open(t, write(t, t.TempDir(), "a.warc.gz", []sample{
		{"20240101", "gopher://g.example/0/a", "text/plain", long + "needle\n\n  thread " + long + "needle"},
		{"20240101", "gopher://g.example/0/b", "text/plain", strings.Repeat("x", 5000) + " wide"},
		{"20240101", "http://a.example/", "", page("<title>Only <b>here</title>text")},
	}))
	for words, want := range map[string]string{
		"thread needle": "… " + strings.Repeat("filler ", 8) + "[needle] [thread]" + strings.Repeat(" filler", 26) + " …",
		"wide":          "[wide]",
		"only here":     "text",
	} {
		r, err := x.Search(t.Context(), textindex.Query{Words: words})
		if err != nil || len(r.Hits) != 1 {
			t.Errorf("%s: %+v, %v", words, r, err)
			continue
		}
		text := ""
		for _, s := range r.Hits[0].Snippet {
			if s.Match {
				s.Text = "[" + s.Text + "]"
			}
			text += s.Text
		}
		if text != want && words != "wide" || len(text) > 700 {
			t.Errorf("%s: got  %q\nwant %q", words, text, want)
		}
	}
}

// TestFrequent searches for words that more texts have than are compared.
func TestFrequent(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes thousands of pages")
	}
	var all []sample
	for n := range textindex.MaxCount + 50 {
		title, body := "", "a frequent word"
		if n%100 == 7 {
			title = "<title>frequent</title>"
		}
		if n%200 == 7 {
			body += " indeed"
		}
		all = append(all, sample{"20240101", fmt.Sprintf("http://a.example/%05d", n), "", page(title + body)})
	}
	x, _ := open(t, write(t, t.TempDir(), "a.warc.gz", all))
	for words, titles := range map[string]int{
		"frequent":           51,
		"frequent -indeed":   25, // the body decides whether a title counts
		`"a frequent word"`:  0,  // each word of a phrase is in a title or a body, but no title has them all
		"frequent year:2024": 51,
	} {
		seen := map[string]bool{}
		for skip := 0; skip < 150; skip += 30 {
			r, err := x.Search(t.Context(), textindex.Query{Words: words, Skip: skip, Limit: 30})
			if err != nil || r.Count != textindex.MaxCount || len(r.Hits) != 30 || !r.More {
				t.Fatalf("%s, skip %d: %d of %d results, %v", words, skip, len(r.Hits), r.Count, err)
			}
			for i, h := range r.Hits {
				if inTitle := skip+i < titles; titles > 0 && inTitle != (h.Title != "") {
					t.Errorf("%s: result %d has the title %q", words, skip+i, h.Title)
				}
				seen[h.URL.String()] = true
			}
		}
		if len(seen) != 150 {
			t.Errorf("%s: %d different results", words, len(seen))
		}
	}
}

// TestIncremental changes an archive, and builds its index again.
func TestIncremental(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "a.warc.gz", samples)
	x, _ := open(t, dir)
	if _, s := open(t, dir); s.Kept != 7 || s.Added != 0 || s.Removed != 0 || s.Replaced != nil {
		t.Errorf("nothing new: %+v", s)
	}
	write(t, dir, "b.warc.gz", []sample{{"20260101", "http://b.example/", "", page("A new rocket")}})
	y, s := open(t, dir)
	if s.Kept != 7 || s.Added != 1 {
		t.Errorf("a new file: %+v", s)
	}
	if got := found(t, y, textindex.Query{Words: "new rocket"}); got != "2026 http://b.example/" {
		t.Errorf("new text: %s", got)
	}
	// The first Index uses the new file, but its archive does not have the capture.
	if r, err := x.Search(t.Context(), textindex.Query{Words: "new rocket"}); err != nil || len(r.Hits) != 0 || r.Stale != 1 {
		t.Errorf("capture that the archive does not have: %+v, %v", r, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	z, s := open(t, dir)
	if s.Kept != 1 || s.Removed != 7 {
		t.Errorf("a removed file: %+v", s)
	}
	if got := found(t, z, textindex.Query{Words: "rocket"}); got != "2026 http://b.example/" {
		t.Errorf("after the removal: %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*.part")); len(left) > 0 {
		t.Errorf("temporary files: %q", left)
	}
}

// TestCanceled verifies that a canceled build leaves no file.
func TestCanceled(t *testing.T) {
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	a, err := warc.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := textindex.Build(ctx, textindex.PathOf(path), a, byName); !errors.Is(err, fetch.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("files after the build: %q", left)
	}
}

// TestPackage verifies that the texts of the page list of a WACZ file are used.
func TestPackage(t *testing.T) {
	dir := t.TempDir()
	a, err := warc.Open(write(t, dir, "a.warc.gz", []sample{{"20240101", "http://a.example/", "", page("<title>T</title>built by scripts")}}))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	path := filepath.Join(dir, "a.wacz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := a.Pack(f, warc.Package{Text: true}); err != nil {
		t.Fatal(err)
	}
	x, s := open(t, path)
	r, err := x.Search(t.Context(), textindex.Query{Words: "scripts"})
	if err != nil || s.Added != 1 || len(r.Hits) != 1 || fmt.Sprint(r.Hits[0].Snippet) != "[{built by  false} {scripts true}]" {
		t.Errorf("%+v, %+v, %v", s, r, err)
	}
}

// FuzzQuery checks that no query is an error of SQLite.
func FuzzQuery(f *testing.F) {
	for _, text := range []string{"moon", `"a b" -c`, "a OR b*", "year:2024 x", "日本 ½ ﷺ", "\x00 \xff", `NEAR("a" "b", 2)`} {
		f.Add(text)
	}
	x, _ := open(f, write(f, f.TempDir(), "a.warc.gz", samples))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := x.Search(t.Context(), textindex.Query{Words: text, Host: text, Year: text})
		if err != nil && !errors.Is(err, fetch.Usage) {
			t.Errorf("%q: %v", text, err)
		}
		if len(r.Hits) > 0 && !strings.Contains(text, "year:") && len(text) > 300 {
			t.Errorf("%q: %+v", text, r)
		}
	})
}

// TestLongURLs checks that captures with long URLs do not make an index unusable.
func TestLongURLs(t *testing.T) {
	long := strings.Repeat("a", 40_000)
	for _, c := range []struct {
		name, url string
		hits      int
	}{
		{"host", "http://" + long + ".example/", 2},
		{"URL longer than the limit", "http://h.example/" + long + long, 1},
	} {
		x, _ := open(t, write(t, t.TempDir(), "a.warc", []sample{
			{"20240101", c.url, "", page("<p>rocket")}, {"20240101", "http://h.example/page", "", page("<p>rocket")},
		}))
		r, err := x.Search(t.Context(), textindex.Query{Words: "rocket"})
		if err != nil || len(r.Hits) != c.hits || r.Stale > 0 {
			t.Errorf("%s: %d hits and %d stale ones, want %d, %v", c.name, len(r.Hits), r.Stale, c.hits, err)
		}
	}
}
