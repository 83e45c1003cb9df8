package gateway

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// BenchmarkReplay requests pages of 14 KiB from an archive of 2,000 pages with an
// index file, without a network.
func BenchmarkReplay(b *testing.B) {
	const pages = 2000
	h := newHandler(b, func(o *Options) { o.Archives[0].Source = openPages(b, pages) })
	for name, form := range map[string]form{"bytes": formBytes, "page": formPage} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				w := &discarder{header: http.Header{}}
				r, err := http.NewRequestWithContext(b.Context(), "GET", "/", nil)
				if err != nil {
					b.Fatal(err)
				}
				r.Host, r.RequestURI = "localhost:8700", fmt.Sprintf("%s2024%s/http://www.example.org/%d.html", root, form, i%pages)
				h.ServeHTTP(w, r)
				if w.status != 200 || w.size < 14<<10 {
					b.Fatalf("status %d, %d bytes", w.status, w.size)
				}
			}
		})
	}
}

// openPages opens an archive with a number of pages and an index file.
func openPages(b *testing.B, pages int) *warc.Archive {
	dir := b.TempDir()
	for _, name := range []string{"warc", "index"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			b.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "warc"))
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "pages.warc.gz"})
	if err != nil {
		b.Fatal(err)
	}
	text := make([]byte, 14<<10)
	random := rand.NewChaCha8([32]byte{})
	for n := range pages {
		random.Read(text)
		for i := range text {
			text[i] = ' ' + text[i]&15 + text[i]&48
		}
		body := fmt.Sprintf("<title>Page %d</title><a href=/1.html>page</a>%s", n, strings.ReplaceAll(string(text), "<", "x"))
		c := warc.Capture{URL: uri.MustParse(fmt.Sprintf("http://www.example.org/%d.html", n)), Date: date(b, "20240101")}
		if _, err := w.Write(c.Response(strings.NewReader(ok("text/html", body)))); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	index, err := os.Create(filepath.Join(dir, "index", "all.cdxj"))
	if err != nil {
		b.Fatal(err)
	}
	defer index.Close()
	if err := warc.Index(index, filepath.Join(dir, "warc", "pages.warc.gz")); err != nil {
		b.Fatal(err)
	}
	a, err := warc.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	return a
}

// A discarder counts the bytes of a response.
type discarder struct {
	header http.Header
	status int
	size   int64
}

func (d *discarder) Header() http.Header { return d.header }
func (d *discarder) WriteHeader(s int)   { d.status = s }

func (d *discarder) Write(p []byte) (int, error) {
	n, err := io.Discard.Write(p)
	d.size += int64(n)
	return n, err
}
