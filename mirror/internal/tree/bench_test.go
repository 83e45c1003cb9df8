package tree

import (
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// BenchmarkStore publishes small files in 100 folders, in batches of 256.
// TMPDIR selects the file system.
func BenchmarkStore(b *testing.B) {
	for _, o := range []Options{{NoSync: true}, {}} {
		b.Run(fmt.Sprintf("sync=%t", !o.NoSync), func(b *testing.B) {
			s, err := Open(b.TempDir(), o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			body := make([]byte, 2500)
			var files []*File
			for i := 0; b.Loop(); i++ {
				f, err := s.Create("x")
				if err == nil {
					_, err = f.Write(body)
				}
				if err != nil {
					b.Fatal(err)
				}
				if files = append(files, f); len(files) < 256 {
					continue
				}
				if err := s.Sync(files...); err != nil {
					b.Fatal(err)
				}
				for j, f := range files {
					n := i - len(files) + j
					if err := f.Publish(fmt.Sprintf("http/h/%d/%d.html", n/100%100, n), time.Unix(1e9, 0)); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.SyncFolders(); err != nil {
					b.Fatal(err)
				}
				files = files[:0]
			}
			for _, f := range files {
				f.Discard()
			}
		})
	}
}

func BenchmarkPath(b *testing.B) {
	u := uri.MustParse("http://www.example.org:8080/a/folder/with%20space/page.html?a=b&c=d")
	b.ReportAllocs()
	for b.Loop() {
		newPath(u, false)
	}
}

// BenchmarkNamer assigns paths in 100 folders, in batches of 256 URLs.
func BenchmarkNamer(b *testing.B) {
	tab := &nameTable{names: map[string]frontier.Key{}}
	n := NewNamer(NewLayout, schemeNamed, tab.lookup)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ws := make([]Want, 256)
		for j := range ws {
			s := fmt.Sprintf("http://h/d/%d/%d-%d.html", j%100, i, j)
			ws[j] = Want{Key: frontier.KeyOf(s), URL: uri.MustParse(s)}
		}
		as, err := n.Assign(b.Context(), ws)
		if err != nil {
			b.Fatal(err)
		}
		n.Committed(as...)
	}
}
