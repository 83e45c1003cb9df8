//go:build unix

package textindex_test

import (
	"os"
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

// TestHole continues an index with a hole of 256 MiB, which a forged index can
// have. The new index must not store the zeros of the hole.
func TestHole(t *testing.T) {
	if testing.Short() {
		t.Skip("reads an index of 256 MiB")
	}
	const hole = 256 << 20
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	open(t, path)
	file := textindex.PathOf(path)
	stored := func() int64 { // bytes on disk
		var info syscall.Stat_t
		if err := syscall.Stat(file, &info); err != nil {
			t.Fatal(err)
		}
		return info.Blocks * 512
	}
	if err := os.Truncate(file, hole); err != nil {
		t.Fatal(err)
	}
	if stored() >= hole {
		t.Skip("the file system has no sparse files")
	}
	x, s := open(t, path)
	if s.Replaced != nil || s.Kept != 7 || stored() > 16<<20 {
		t.Errorf("%d bytes on disk; %+v", stored(), s)
	}
	if got := found(t, x, textindex.Query{Words: "returns"}); got != "2024 http://a.example/" {
		t.Error(got)
	}
}
