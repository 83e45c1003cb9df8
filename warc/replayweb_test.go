package warc

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/browsertest"
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
