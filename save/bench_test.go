package save_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/save"
)

// BenchmarkCommit measures the time to save small files. The disk limits the
// elapsed time, so compare the processor time.
func BenchmarkCommit(b *testing.B) {
	piece := bytes.Repeat([]byte("x"), 32<<10)
	for _, size := range []int{10 << 10, 1 << 20, 256 << 20} {
		for _, o := range []save.Options{{}, {Resume: true, URL: url}} {
			b.Run(fmt.Sprintf("%d KiB, resumable %v", size>>10, o.Resume), func(b *testing.B) {
				out := filepath.Join(b.TempDir(), "out")
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					f, err := save.Create(out, o)
					if err != nil {
						b.Fatal(err)
					}
					if err := f.Begin(save.State{Validator: "v1", Size: int64(size)}); err != nil {
						b.Fatal(err)
					}
					for n := 0; n < size; n += len(piece) {
						if _, err := f.Write(piece[:min(len(piece), size-n)]); err != nil {
							b.Fatal(err)
						}
					}
					if err := f.Commit(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
