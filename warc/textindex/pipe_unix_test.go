//go:build unix

package textindex_test

import (
	"syscall"
	"testing"

	"github.com/anyurl/fetch/warc/textindex"
)

// TestPipe searches in an index beside a named pipe with the name of a
// write-ahead log, which an archive of another person can contain. A search that
// reads the pipe does not end.
func TestPipe(t *testing.T) {
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	x, _ := open(t, path)
	if err := syscall.Mkfifo(textindex.PathOf(path)+"-wal", 0o600); err != nil {
		t.Fatal(err)
	}
	if got := found(t, x, textindex.Query{Words: "returns"}); got != "2024 http://a.example/" {
		t.Error(got)
	}
}
