package warc

import (
	"bytes"
	"testing"
)

// TestWriterName verifies that a Writer with a file name replaces the finished
// file and the unfinished file of earlier Writers.
func TestWriterName(t *testing.T) {
	dir := testFolder(t)
	opts := testOptions()
	opts.Name, opts.MaxSize = "one.warc.gz", 1
	for _, name := range []string{opts.Name, opts.Name + OpenSuffix} {
		if err := dir.WriteFile(name, bytes.Repeat([]byte("old"), 1000), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w := testWriter(t, dir, opts)
	for range 3 { // larger than MaxSize
		mustWrite(t, w, at("gopher://h.example/0/a", 1).Resource("text/plain", text("hello")))
	}
	if old, err := dir.ReadFile(opts.Name); err != nil || !bytes.HasPrefix(old, []byte("old")) {
		t.Errorf("before Close: got %.10q, %v", old, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Stat(opts.Name + OpenSuffix); err == nil {
		t.Error("the unfinished file remains")
	}
	written, err := dir.ReadFile(opts.Name)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for l, err := range Lines(opts.Name, bytes.NewReader(written)) {
		if err != nil || l.URL != "gopher://h.example/0/a" {
			t.Errorf("got %v, %v", l, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("got %d records", n)
	}
}
