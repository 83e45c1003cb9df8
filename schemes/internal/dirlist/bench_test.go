package dirlist_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/schemes/internal/dirlist"
	"github.com/anyurl/fetch/uri"
)

// BenchmarkMenu parses a listing of 100 files in the format of ls -l.
func BenchmarkMenu(b *testing.B) {
	text := strings.Repeat("-rw-r--r--    1 ftp      ftp          1024 Nov 22 23:00 file\r\n", 100)
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	media := dirlist.MediaType(dirlist.Params{At: at, Dialect: "list"})
	base := uri.MustParse("ftp://h/")
	b.ReportAllocs()
	for b.Loop() {
		for e, err := range dirlist.Menu(base, media, strings.NewReader(text)) {
			if err != nil || e.Size != 1024 {
				b.Fatal(e, err)
			}
		}
	}
}
