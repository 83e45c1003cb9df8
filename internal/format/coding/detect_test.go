package coding_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/internal/format/coding"
)

// encode returns text with a content coding.
func encode(t testing.TB, text string, open func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDetect detects the codings of documents by their first bytes.
func TestDetect(t *testing.T) {
	page := strings.Repeat("<p>a page, \xe9t\xe9\r\n\tsecond line</p>", 500)
	br := encode(t, page, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	long := encode(t, strings.Repeat(page, 30)+random(20<<10), func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	for _, tc := range []struct{ name, start, want string }{
		{"empty", "", ""},
		{"page in Latin-1", page[:4<<10], ""},
		{"ISO-2022-JP", "\x1b$B%F%9%H\x1b(B", ""},
		{"UTF-16", "\xff\xfe<\x00p\x00", ""},
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01", ""},
		{"gzip", encode(t, page, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), "gzip"},
		{"zstd", encode(t, page, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }), "zstd"},
		{"br", br, "br"},
		{"start of br", long[:min(len(long), 4<<10)], "br"},
		{"br of binary data", encode(t, "\x00\x01\x02", func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }), ""},
		{"damaged br", strings.ToUpper(br[len(br)/2:]), ""},
	} {
		if got := coding.Detect([]byte(tc.start)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// random returns n bytes that cannot be compressed well.
func random(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEF"[x>>27]
	}
	return string(b)
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("\x8b\x02\x80hello\x03"))
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, start []byte) {
		if got := coding.Detect(start); got == "br" && len(start) == 0 {
			t.Error("br without data")
		}
	})
}
