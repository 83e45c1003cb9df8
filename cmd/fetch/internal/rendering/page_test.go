package rendering

import (
	"io"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/warc/record"
)

// TestLongPage reads pages of the largest permitted size, and of one byte more. The
// memory for a page must be small.
func TestLongPage(t *testing.T) {
	for size, want := range map[int64]fetch.Fault{maxPage: 0, maxPage + 1: fetch.TooLarge} {
		var before, after runtime.MemStats
		text := (&record.Options{TempDir: t.TempDir()}).Spool()
		runtime.ReadMemStats(&before)
		err := readPage(text, io.LimitReader(letters{}, size))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; fetch.FaultOf(err) != want || used > 1<<20 {
			t.Errorf("%d bytes: %v, %d bytes of memory", size, err, used)
		}
		if want == 0 && text.Size() != size {
			t.Errorf("%d of %d bytes were stored", text.Size(), size)
		}
		text.Free()
	}
}

// letters is a reader of letters without end.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
