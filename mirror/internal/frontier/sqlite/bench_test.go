package sqlite_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// batchSize is the number of URLs in one call.
const batchSize = 256

// page returns the nth URL of a set of URLs on 20 hosts.
func page(n int) frontier.Item {
	host := fmt.Sprintf("host%d.example.org", n%20)
	text := fmt.Sprintf("https://%s/some/path/of/usual/length/%d.html", host, n)
	return frontier.Item{Key: frontier.KeyOf(text), URL: text, Host: host, Depth: 3, Meta: []byte(`{"from":"page"}`)}
}

func pages(from, to int) (items []frontier.Item) {
	for n := from; n < to; n++ {
		items = append(items, page(n))
	}
	return items
}

// visitResults returns the results of visits to items. The function links
// returns the links of an item.
func visitResults(items []frontier.Item, links func(frontier.Item) []frontier.Item) []frontier.Result {
	rs := make([]frontier.Result, len(items))
	for i, item := range items {
		c := &frontier.Capture{
			Key: item.Key, URL: item.URL, Run: 1, Time: time.Unix(1.7e9, 0), Kind: "document", Media: "text/html", Code: 200, Size: 5000,
			Validator: `"65f1c0de-1388"`, Modified: time.Unix(1.6e9, 0), Path: "https/" + item.URL[8:], File: "x-00000.warc.gz", Offset: 1 << 30, Length: 2000,
			ID: "urn:uuid:0b6ad1c6-5f5c-4a0d-9d2f-1a2b3c4d5e6f", Proof: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
		}
		copy(c.Digest[:], item.Key[:])
		binary.BigEndian.PutUint64(c.Digest[24:], 1)
		rs[i] = frontier.Result{Item: item, State: frontier.Done, Capture: c, Names: []frontier.Name{{Fold: c.Path, Key: item.Key}}}
		if links != nil {
			rs[i].Children = links(item)
		}
	}
	return rs
}

// work claims hosts and completes their items until n URLs are done.
func work(b testing.TB, f frontier.Frontier, n int, links func(frontier.Item) []frontier.Item) {
	ctx := b.Context()
	for n > 0 {
		ls, err := f.Claim(ctx, "bench", 4, batchSize, time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		if len(ls) == 0 {
			return
		}
		for _, l := range ls {
			if err := f.Complete(ctx, l, visitResults(l.Items, links), map[string]int64{"x-00000.warc.gz": 1 << 31}); err != nil {
				b.Fatal(err)
			}
			n -= len(l.Items)
			if err := f.Release(ctx, l, time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// newFrontier opens the frontier at place and starts a run.
func newFrontier(b testing.TB, place string) frontier.Frontier {
	f, err := sqlite.Open(b.Context(), place)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if _, _, err := f.Begin(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkVisit adds, claims and completes b.N URLs.
func BenchmarkVisit(b *testing.B) {
	f := newFrontier(b, filepath.Join(b.TempDir(), "front.db"))
	cpu := processor()
	for n := 0; n < b.N; n += batchSize {
		if _, err := f.Add(b.Context(), pages(n, min(n+batchSize, b.N))); err != nil {
			b.Fatal(err)
		}
	}
	work(b, f, b.N, nil)
	report(b, cpu)
}

// BenchmarkGrow completes b.N pages of nine links each, one of which is new.
func BenchmarkGrow(b *testing.B) {
	f := newFrontier(b, filepath.Join(b.TempDir(), "front.db"))
	cpu := processor()
	known := min(20*batchSize, b.N)
	if _, err := f.Add(b.Context(), pages(0, known)); err != nil {
		b.Fatal(err)
	}
	work(b, f, b.N, func(i frontier.Item) (links []frontier.Item) {
		for n := range 8 {
			links = append(links, page((int(i.Key[n])<<8|int(i.Key[n+1]))%known))
		}
		if known < b.N {
			links = append(links, page(known))
			known++
		}
		return links
	})
	report(b, cpu)
}

func report(b *testing.B, before time.Duration) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
	b.ReportMetric(float64((processor()-before).Microseconds())/float64(b.N), "cpu-µs/URL")
}
