package mirror_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/anyurl/fetch/mirror"
)

// BenchmarkVisit mirrors a folder of 2,000 files, and reports the allocations
// for each file. It uses the scheme file, because a server in this process would
// allocate memory too.
func BenchmarkVisit(b *testing.B) {
	const files = 2000
	source := b.TempDir()
	for n := range files {
		if err := os.WriteFile(filepath.Join(source, strconv.Itoa(n)), fmt.Appendf(nil, "file %d", n), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	for name, change := range map[string]func(*mirror.Options){
		"tree": func(o *mirror.Options) { o.WARC = nil },
		"WARC": func(o *mirror.Options) { o.Tree = false },
	} {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				o := options(b, "file://"+source+"/")
				change(&o)
				if sum := run(b, o); sum.New < files {
					b.Fatalf("%+v", sum)
				}
			}
			runtime.ReadMemStats(&after)
			visits := float64(b.N) * files
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/visits, "allocs/file")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/visits, "B/file")
		})
	}
}
