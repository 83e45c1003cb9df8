package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func TestPreview(t *testing.T) {
	numbered := ""
	for i := range 30 {
		numbered += fmt.Sprintf("line %d\n", i)
	}
	for _, c := range []struct {
		name, media string
		body        io.Reader
		want        []string // texts of the page; "!" means that the text must be missing
	}{
		{"short text", "text/plain", strings.NewReader("one\n<two>\n"), []string{"<pre>one\n&lt;two&gt;\n</pre>", "!…"}},
		{"many lines", "text/plain", strings.NewReader(numbered), []string{"line 19\n…</pre>", "!line 20"}},
		{"a long line", "text/plain", strings.NewReader(strings.Repeat("é", PreviewSize)), []string{"é\n…</pre>", "!\ufffd"}},
		{"Latin-1", "text/plain; charset=iso-8859-1", strings.NewReader("caf\xe9"), []string{"<pre>café</pre>"}},
		{"control characters", "text/plain", strings.NewReader("a\x1b[31mb"), []string{"a\ufffd[31mb", "!\x1b"}},
		{"empty", "text/plain", strings.NewReader(""), []string{"The object has no text."}},
		{"no text", "application/zip", strings.NewReader("PK secret"), []string{"The object has no text.", "!PK"}},
		{"HTML", "text/html", strings.NewReader("<script>1</script>"), []string{"The object has no text.", "!script"}},
		{"error", "text/plain", iotest.ErrReader(errors.New("damaged")), []string{"Problem: damaged"}},
	} {
		v := newView("ftp://h/x", c.media, "")
		v.Response.Kind, v.Response.Body = fetch.Document, io.NopCloser(c.body)
		var b bytes.Buffer
		if err := v.WritePreview(&b); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.want {
			text, negated := strings.CutPrefix(text, "!")
			if strings.Contains(b.String(), text) == negated {
				t.Errorf("%s: %q: found = %v in\n%s", c.name, text, !negated, b.String())
			}
		}
	}
}

// TestPreviewLinks checks which entries of listings have a preview.
func TestPreviewLinks(t *testing.T) {
	html := fetch.Entry{Name: "page.html", URL: uri.MustParse("ftp://h/page.html"), Kind: fetch.Document, Size: 9}
	large := file("large.txt", maxPreviewed+1, 1)
	entries := []fetch.Entry{file("a.txt", 9, 1), file("unknown.txt", -1, 1), html, large}
	page := newView("ftp://h/", "text/x-ftp-list", "", entries...).page(t)
	for name, want := range map[string]bool{"a.txt": true, "unknown.txt": true, "page.html": false, "large.txt": false} {
		if got := strings.Contains(page, `src="/preview/ftp://h/`+name+`"`); got != want {
			t.Errorf("%s has a preview: %v", name, got)
		}
	}
	if page := newView("gopher://h/1/", "application/gopher-menu", "", entries...).page(t); strings.Contains(page, "/preview/") {
		t.Error("a menu has previews of texts")
	}
	entries = nil
	for i := range maxPreviews + 10 {
		entries = append(entries, file(fmt.Sprintf("%d.txt", i), 9, 1))
	}
	if n := strings.Count(newView("ftp://h/", "text/x-ftp-list", "", entries...).page(t), "/preview/"); n != maxPreviews {
		t.Errorf("%d previews", n)
	}
}
