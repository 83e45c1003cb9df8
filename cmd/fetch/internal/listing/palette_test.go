package listing

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// TestPalette checks the colors for values of LS_COLORS.
func TestPalette(t *testing.T) {
	file := fetch.Entry{Name: "a.tar.gz", Kind: fetch.Document}
	dir := fetch.Entry{Name: "d", Kind: fetch.Menu}
	link := fetch.Entry{Name: "l", Kind: fetch.Document, Extra: map[string]string{"link": "a"}}
	for _, c := range []struct {
		oddity, value string
		entry         fetch.Entry
		want          string
	}{
		{"directory without LS_COLORS", "", dir, "1;34"},
		{"file without LS_COLORS", "", file, ""},
		{"link without LS_COLORS", "", link, "36"},
		{"search", "di=31", fetch.Entry{Kind: fetch.Index}, "36"},
		{"directory", "rs=0:di=01;35:", dir, "01;35"},
		{"directory without a color", "di=0", dir, ""},
		{"color of the target", "ln=target", link, "36"},
		{"suffix", "*.gz=01;31", file, "01;31"},
		{"suffix of a directory", "*d=01;31", dir, "1;34"},
		{"the last suffix wins", "*.gz=31:*.tar.gz=32", file, "32"},
		{"suffix and files", "fi=33:*.gz=31", file, "31"},
		{"control sequence in place of a color", "di=1m\x1b]0;x\x07", dir, "1;34"},
		{"long color", "di=" + strings.Repeat("1;", 30), dir, "1;34"},
		{"malformed", "di:=:*=31:*.gz", file, ""},
	} {
		if got := ParsePalette(c.value).color(c.entry); got != c.want {
			t.Errorf("%s: got %q, want %q", c.oddity, got, c.want)
		}
	}
}

// TestLink checks which names become hyperlinks.
func TestLink(t *testing.T) {
	f := Format{Links: true, Scheme: fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...).Scheme}
	for _, c := range []struct{ oddity, url, want string }{
		{"http", "http://h/a%20b", "\x1b]8;;http://h/a%20b\x1b\\name\x1b]8;;\x1b\\"},
		{"password", "ftp://u:secret@h/a", "\x1b]8;;ftp://h/a\x1b\\name\x1b]8;;\x1b\\"},
		{"local file", "file:///etc/passwd", "name"},
		{"scheme of another program", "x-man-page://a", "name"},
		{"long URL", "http://h/" + strings.Repeat("a", maxTarget), "name"},
		{"no URL", "", "name"},
	} {
		e := fetch.Entry{Name: "name"}
		if c.url != "" {
			e.URL = uri.MustParse(c.url)
		}
		if got := f.link(e, "name"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.oddity, got, c.want)
		}
	}
}

// FuzzPalette checks that a color contains no control character.
func FuzzPalette(f *testing.F) {
	f.Add("di=01;34:*.tar=01;31", "a.tar")
	f.Fuzz(func(t *testing.T, value, name string) {
		for _, kind := range []fetch.Kind{fetch.Menu, fetch.Document} {
			color := ParsePalette(value).color(fetch.Entry{Name: name, Kind: kind})
			if strings.Trim(color, "0123456789;") != "" {
				t.Errorf("%q: %q", value, color)
			}
		}
	})
}
