package browser_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/capture/browser"
)

// BenchmarkPages opens pages of 20 requests, as many at a time as there are tabs.
// The time includes PageIdle, which is one second for each page.
func BenchmarkPages(b *testing.B) {
	site := &pages{texts: map[string]string{}}
	var page strings.Builder
	for i := range 19 {
		fmt.Fprintf(&page, "<script src=/%d.js></script>", i)
		site.texts[fmt.Sprintf("http://a.test/%d.js", i)] = strings.Repeat("// comment\n", 1000)
	}
	site.texts["http://a.test/"] = page.String()
	for _, tabs := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("%d tabs", tabs), func(b *testing.B) {
			opened := open(b, browser.Options{Tabs: tabs})
			var started atomic.Int64
			var running sync.WaitGroup
			b.ResetTimer()
			for range tabs {
				running.Go(func() {
					for started.Add(1) <= int64(b.N) {
						if _, err := opened.Visit(b.Context(), &browser.Visit{URL: "http://a.test/", Handler: site}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			running.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Minutes(), "pages/min")
		})
	}
}
