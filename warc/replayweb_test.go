package warc

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/browsertest"
)

// TestReplayWebLargeIndex opens captures of each scheme through a compressed
// index in ReplayWeb.page, in each block of the index.
func TestReplayWebLargeIndex(t *testing.T) {
	t.Parallel()
	_, path, urls := packLarge(t)
	r := browsertest.OpenWACZ(t, path, urls[0])
	text := func(i int) string { return fmt.Sprintf("doc.body.innerText == '%d'", i) }
	r.Wait(text(0))
	for i := 1; i < len(urls); i += len(urls) / 8 {
		r.Show(urls[i], text(i))
	}
	r.Show(urls[len(urls)-1], text(len(urls)-1))
}

// TestReplayWebNotModified opens a page that has changed, while the server has
// reported no change of its image.
func TestReplayWebNotModified(t *testing.T) {
	t.Parallel()
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	get := func(path string, seconds int, media, body string) Reference {
		c := at("http://h.example"+path, seconds)
		head := "HTTP/1.1 200 OK\r\nContent-Type: " + media + "\r\n\r\n"
		place := mustWrite(t, w, c.Response(strings.NewReader(head+body)))[0]
		return Reference{ID: place.ID, URL: c.URL, Date: place.Date}
	}
	get("/", 1, "text/html", "<title>old</title><img src=picture>")
	first := get("/picture", 2, "image/png", picture.String())
	get("/", 11, "text/html", "<title>new</title><img src=picture>")
	mustWrite(t, w, at("http://h.example/picture", 12).NotModified(first, "", strings.NewReader("HTTP/1.1 304 Not Modified\r\n\r\n")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, path := pack(t, dir.Name())
	r := browsertest.OpenWACZ(t, path, "http://h.example/")
	r.Wait("doc.title == 'new' && doc.querySelector('img').naturalWidth == 7")
	r.Show("http://h.example/picture", "doc.querySelector('img').naturalWidth == 7")
}

// TestReplayWebRevisit opens a revisit of a capture, which an identical and a
// different capture of the same URL follow. The dates have parts of seconds.
func TestReplayWebRevisit(t *testing.T) {
	t.Parallel()
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	capture := func(seconds int) Capture {
		c := at("http://h.example/", seconds)
		c.Date = c.Date.Add(500 * time.Millisecond)
		return c
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	first := mustWrite(t, w, capture(1).Response(strings.NewReader(head+"<title>first</title>")))[0]
	refers := Reference{ID: first.ID, URL: capture(1).URL, Date: first.Date}
	mustWrite(t, w, capture(11).Revisit(refers, first.PayloadDigest, strings.NewReader(head)))
	mustWrite(t, w, capture(21).Response(strings.NewReader(head+"<title>second</title>")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, path := pack(t, dir.Name())
	r := browsertest.OpenWACZ(t, path, "http://h.example/")
	r.Wait("doc.title == 'second'")
	r.ShowAt("http://h.example/", "20261121083011", "doc.title == 'first'")
}
