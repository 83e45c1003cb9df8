//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// benchPage returns page n of a crawl of 200 hosts.
func benchPage(n int) frontier.Item {
	host := fmt.Sprintf("host%d.example.org", n%200)
	text := fmt.Sprintf("https://%s/some/path/of/usual/length/%d.html", host, n)
	return frontier.Item{Key: frontier.KeyOf(text), URL: text, Host: host, Depth: 3, Meta: []byte(`{"from":"page"}`)}
}

// benchCapture returns a capture of a page.
func benchCapture(item frontier.Item) *frontier.Capture {
	return &frontier.Capture{
		Key: item.Key, URL: item.URL, Run: 1, Time: time.Unix(1.7e9, 0), Kind: "document", Media: "text/html", Code: 200,
		Size: 5000, Digest: [32]byte(append(item.Key[:], item.Key[:]...)), Validator: `"65f1c0de-1388"`,
		File: "x-00000.warc.gz", Offset: 1 << 30, Length: 2000, ID: "urn:uuid:0b6ad1c6-5f5c-4a0d-9d2f-1a2b3c4d5e6f",
		Proof: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
	}
}

// benchResults returns the results of visits. Each page has nine links, of which
// one is new.
func benchResults(items, pages []frontier.Item, next *atomic.Int64) []frontier.Result {
	rs := make([]frontier.Result, len(items))
	for i, item := range items {
		rs[i] = frontier.Result{Item: item, State: frontier.Done, Capture: benchCapture(item)}
		known := next.Load()
		for j := range 8 {
			rs[i].Children = append(rs[i].Children, pages[(int(item.Key[j])*256+int(item.Key[j+1]))%int(known)])
		}
		rs[i].Children = append(rs[i].Children, pages[next.Add(1)-1])
	}
	return rs
}

// benchVisit visits up to 128 items of a leased host in batches of 16, as a mirror
// does. It returns their number.
func benchVisit(b *testing.B, f frontier.Frontier, file string, l *frontier.Lease, pages []frontier.Item, next *atomic.Int64) (n int64, err error) {
	items := l.Items
	for len(items) > 0 && err == nil {
		n += int64(len(items))
		if err = f.Complete(b.Context(), l, benchResults(items, pages, next), map[string]int64{file: 1 << 31}); err == nil && n < 128 {
			items, err = f.ClaimMore(b.Context(), l, 16)
		} else {
			items = nil
		}
	}
	return n, errors.Join(err, f.Release(b.Context(), l, time.Time{}))
}

// BenchmarkWorkers crawls b.N pages with three workers and batches of 16 URLs.
func BenchmarkWorkers(b *testing.B) {
	s := &server{Server: peer.Postgres(b, true)}
	place := s.place(b)
	engines := make([]frontier.Frontier, 3)
	for i := range engines {
		var err error
		if engines[i], err = New(place).Join(b.Context(), &frontier.Worker{}); err != nil {
			b.Fatal(err)
		}
		defer engines[i].Close()
	}
	if _, _, err := engines[0].Begin(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	var next, done atomic.Int64
	const seeds = 10_000
	next.Store(seeds)
	pages := make([]frontier.Item, seeds+b.N+4096) // the last leases exceed b.N
	for n := range pages {
		pages[n] = benchPage(n)
	}
	if _, err := engines[0].Add(b.Context(), pages[:seeds]); err != nil {
		b.Fatal(err)
	}
	server, own := serverTime(b, s), ownTime(b)
	b.ResetTimer()
	var all sync.WaitGroup
	for i, f := range engines {
		for range 4 { // leased hosts of a worker
			all.Go(func() {
				for done.Load() < int64(b.N) {
					ls, err := f.Claim(b.Context(), fmt.Sprint("w", i), 1, 16, time.Minute)
					if err != nil {
						b.Error(err)
						return
					}
					for _, l := range ls {
						n, err := benchVisit(b, f, fmt.Sprint(i), l, pages, &next)
						if err != nil {
							b.Error(err)
							return
						}
						done.Add(n)
					}
				}
			})
		}
	}
	all.Wait()
	urls := float64(done.Load())
	b.ReportMetric(urls/b.Elapsed().Seconds(), "URLs/s")
	b.ReportMetric(float64((ownTime(b)-own).Microseconds())/urls, "µs-workers/URL")
	b.ReportMetric(float64((serverTime(b, s)-server).Microseconds())/urls, "µs-server/URL")
}

// serverTime returns the processor time of the server, which other processes
// disturb less than the wall time.
func serverTime(b *testing.B, s *server) time.Duration {
	used, err := peer.PostgresTime(s.Server)
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// ownTime returns the processor time of this process.
func ownTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
