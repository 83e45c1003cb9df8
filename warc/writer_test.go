package warc

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// day is when every test happens.
var day = time.Date(2026, 11, 21, 8, 30, 0, 123456000, time.UTC)

// testOptions make a Writer whose files are the same each time.
func testOptions() Options {
	n := 0
	return Options{
		Worker: "w1",
		Now:    func() time.Time { return day },
		NewID:  func() string { n++; return fmt.Sprintf("urn:uuid:00000000-0000-4000-8000-%012d", n) },
	}
}

func testFolder(t testing.TB) *os.Root {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func testWriter(t testing.TB, dir *os.Root, opts Options) *Writer {
	t.Helper()
	w, err := NewWriter(Root(dir), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Abandon() })
	return w
}

func mustWrite(t testing.TB, w *Writer, group ...*Record) []Place {
	t.Helper()
	places, err := w.Write(group...)
	if err != nil {
		t.Fatal(err)
	}
	return places
}

func TestWriteRead(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	c := Capture{URL: uri.MustParse("gopher://h.example/0/a"), Date: day}
	places := mustWrite(t, w,
		c.Resource("text/plain", strings.NewReader("hello\r\n")),
		c.Metadata("text/x-gopher-conversation", strings.NewReader("> /a\r\n")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := dir.Open(places[0].File)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := NewReader(f)
	for i := 0; ; i++ {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		t.Logf("%+v %q %v", h, body, err)
	}
	_ = fetch.Get
}
