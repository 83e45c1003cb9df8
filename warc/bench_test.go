package warc

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/anyurl/fetch/uri"
)

// page returns a small HTML page that compresses to about a third of its size.
func page(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n")
	for b.Len() < 2500 {
		fmt.Fprintf(&b, "<p class=\"word\">word %d of the page, <a href=\"/page/%d\">another</a></p>\n", random.IntN(1000),
			random.IntN(100000))
	}
	return answer(fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 08:30:00 GMT\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: keep-alive\r\nETag: \"%x\"", b.Len(), n), b.String())
}

const request = "GET /page HTTP/1.1\r\nHost: h.example\r\nUser-Agent: fetch\r\nAccept: */*\r\n\r\n"

// BenchmarkWrite writes a response and a request for each of many small pages.
func BenchmarkWrite(b *testing.B) {
	var pages []string
	for n := range 100 {
		pages = append(pages, page(n))
	}
	c := Capture{URL: uri.MustParse("http://h.example/page"), Date: day}
	w := testWriter(b, testFolder(b), Options{})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		mustWrite(b, w, c.Response(strings.NewReader(pages[n%100])), c.Request(strings.NewReader(request)))
		n++
	}
	b.ReportMetric(2*float64(n)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkWriteLarge writes an incompressible block of 64 MiB.
func BenchmarkWriteLarge(b *testing.B) {
	block := make([]byte, 64<<20)
	rand.NewChaCha8([32]byte{1}).Read(block)
	c := Capture{URL: uri.MustParse("ftp://h.example/large"), Date: day}
	w := testWriter(b, testFolder(b), Options{})
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		mustWrite(b, w, c.Resource("application/octet-stream", bytes.NewReader(block)))
	}
}

// crawlFile returns a WARC file with n captures.
func crawlFile(b *testing.B, n int) []byte {
	b.Helper()
	dir := testFolder(b)
	w := testWriter(b, dir, Options{})
	var file string
	for i := range n {
		c := Capture{URL: uri.MustParse(fmt.Sprintf("http://h.example/page/%d", i)), Date: day}
		file = mustWrite(b, w, c.Response(strings.NewReader(page(i))), c.Request(strings.NewReader(request)))[0].File
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	all, err := os.ReadFile(dir.Name() + "/" + file)
	if err != nil {
		b.Fatal(err)
	}
	return all
}

func benchRecords(b *testing.B, read func(file []byte) error) {
	const captures = 2000
	file := crawlFile(b, captures)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if err := read(file); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((2*captures+1)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkRead(b *testing.B) {
	benchRecords(b, func(file []byte) error {
		r := NewReader(bytes.NewReader(file))
		for {
			if _, err := r.Next(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
}

func BenchmarkLines(b *testing.B) {
	benchRecords(b, func(file []byte) error {
		var s linesort.Sorter
		defer s.Close()
		for l, err := range Lines("a.warc.gz", bytes.NewReader(file)) {
			if err != nil {
				return err
			}
			if err := s.Add(l.append(nil)); err != nil {
				return err
			}
		}
		return linesort.Write(io.Discard, s.Sorted())
	})
}

func BenchmarkVerify(b *testing.B) {
	benchRecords(b, func(file []byte) error {
		var v verifier
		defer v.close()
		for f, err := range v.file("a.warc.gz", bytes.NewReader(file)) {
			return fmt.Errorf("%v %v", f, err)
		}
		for f, err := range v.references() {
			return fmt.Errorf("%v %v", f, err)
		}
		return nil
	})
}
