package browser_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/capture/browser"
)

// TestLargeFrames opens a page with many large frames, whose documents stay in
// memory until the page was stored. The documents consist of comments, because
// drawing long texts occupies a busy machine for longer than a page may need to
// answer.
func TestLargeFrames(t *testing.T) {
	b := open(t, browser.Options{PageIdle: 100 * time.Millisecond, PageTime: time.Minute})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<script>for (let i = 0; i < 14; i++) {
			const f = document.createElement('iframe');
			document.documentElement.append(f);
			f.contentDocument.body.append(f.contentDocument.createComment('x'.repeat(3e6)));
		}</script>`))
	})
	p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, f := range p.Frames {
		size += len(f.HTML)
	}
	const note = "frames were not read completely, because the documents are too long"
	if size < 16<<20 || size > 32<<20 || !strings.Contains(p.Frames[0].HTML, "createElement") || !slices.Contains(p.Notes, note) {
		t.Errorf("%d frames with %d bytes, notes %q", len(p.Frames), size, p.Notes)
	}
}

// TestManyFrames opens a page with more frames than are read.
func TestManyFrames(t *testing.T) {
	b := open(t, browser.Options{PageIdle: 100 * time.Millisecond, PageTime: time.Minute})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<script>for (let i = 0; i < 100; i++) {
			document.documentElement.append(document.createElement('iframe'));
		}</script>`))
	})
	p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	const note = "frames were not read, because the page has more than 100"
	if len(p.Frames) != 100 || !slices.Contains(p.Notes, note) {
		t.Errorf("%d frames, notes %q", len(p.Frames), p.Notes)
	}
}

// TestLargeCopy opens a page with pictures of noise, whose copy in PDF would need
// more memory than a copy may have.
func TestLargeCopy(t *testing.T) {
	b := open(t, browser.Options{PageIdle: 100 * time.Millisecond, PageTime: time.Minute, Copies: []string{"pdf"}})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<script>for (let i = 0; i < 3; i++) {
			const c = document.createElement('canvas');
			c.width = c.height = 2000;
			document.documentElement.append(c);
			const picture = c.getContext('2d').createImageData(2000, 2000);
			for (let k = 0; k < picture.data.length; k += 65536) {
				crypto.getRandomValues(picture.data.subarray(k, Math.min(k + 65536, picture.data.length)));
			}
			for (let k = 3; k < picture.data.length; k += 4) { picture.data[k] = 255; }
			c.getContext('2d').putImageData(picture, 0, 0);
		}</script>`))
	})
	p, err := b.Visit(t.Context(), &browser.Visit{URL: "https://a.test/", Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Copies) > 0 || !slices.Contains(p.Notes, "no pdf was made") {
		t.Errorf("%d copies, notes %q", len(p.Copies), p.Notes)
	}
}
