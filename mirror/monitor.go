package mirror

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/format/crawlreport"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A Monitor provides the metrics of a run while it is active. Its zero value
// can be assigned to [Options].Monitor. It is safe for concurrent use.
type Monitor struct {
	mu    sync.Mutex
	crawl *crawl // nil before and after the run

	reading sync.Mutex // held while the frontier is read
	crawled Crawled
	read    time.Time // time at which crawled was read; zero if it was never read
	err     error     // error of the last read
}

// Metrics contains the metrics of one process. All values grow during a run,
// except Hosts, WaitingFiles and WaitingBytes.
type Metrics struct {
	Visits       map[string]int64 // visits by outcome: new, unchanged, repaired, gone, failed, unreached, excluded or retried
	Errors       map[string]int64 // visits with an error, by its class, such as "timeout"
	Bytes        int64            // size of the new objects
	Requests     int64            // requests to servers
	ResponseTime time.Duration    // sum of the times from each request to the start of its response
	LostLeases   int64            // hosts that other workers have taken over, because a lease expired
	Hosts        int64            // hosts that the process visits now
	WaitingFiles int64            // finished WARC files that wait for their upload
	WaitingBytes int64            // size of the waiting files
}

// A HostStatus describes a host that the process visits now.
type HostStatus struct {
	Host   string // name of the host in the frontier
	Queued int    // URLs that this process has claimed and not requested yet; there may be more in the frontier
	Active int    // visits in progress
}

// Hosts returns the hosts that the process visits now, in the order of their
// names. It returns none before and after the run.
func (m *Monitor) Hosts() (all []HostStatus) {
	m.mu.Lock()
	c := m.crawl
	m.mu.Unlock()
	if c == nil {
		return nil
	}
	c.visited.Range(func(host, worker any) bool {
		h := worker.(*hostWorker)
		h.mu.Lock()
		defer h.mu.Unlock()
		all = append(all, HostStatus{host.(string), len(h.queue), h.inFlight})
		return true
	})
	slices.SortFunc(all, func(a, b HostStatus) int { return strings.Compare(a.Host, b.Host) })
	return all
}

// Waiting returns the wait during which the run sends no request. The result ok
// is false if the run does not wait.
func (m *Monitor) Waiting() (w Wait, ok bool) {
	m.mu.Lock()
	c := m.crawl
	m.mu.Unlock()
	if c == nil {
		return w, false
	}
	now := c.wait.Load()
	if now == nil || !time.Now().Before(now.Until) {
		return w, false
	}
	return *now, true
}

// Crawled contains the statistics of a crawl, including the work of all its
// workers.
type Crawled struct {
	Stats
	Workers int64 // workers that were active during the last five minutes; 1 without a shared frontier
}

func (m *Monitor) attach(c *crawl) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crawl = c
}

// Metrics returns the metrics of the process. The result ok is false before and
// after the run.
func (m *Monitor) Metrics() (_ Metrics, ok bool) {
	m.mu.Lock()
	c := m.crawl
	m.mu.Unlock()
	if c == nil {
		return Metrics{}, false
	}
	n := c.report.statistics.Counts()
	files, bytes := c.archive.Backlog()
	return Metrics{
		WaitingFiles: int64(files), WaitingBytes: bytes,
		Visits: outcomes(&n.Totals), Errors: n.Errors, Bytes: n.Bytes, Requests: n.Requests, ResponseTime: n.ResponseTime,
		LostLeases: c.lost.Load(), Hosts: c.leases.Load(),
	}, true
}

func outcomes(t *crawlreport.Totals) map[string]int64 {
	return map[string]int64{
		"new": t.New, "unchanged": t.Unchanged, "repaired": t.Repaired, "gone": t.Gone, "failed": t.Failed,
		"unreached": t.Unreached, "excluded": t.Excluded, "retried": t.Retried,
	}
}

// crawledAge is the time for which Crawled caches its result, so that frequent
// calls do not load the database.
const crawledAge = time.Second

// Crawled returns the statistics of the crawl. They are at most one second old.
// While the database does not respond, Crawled waits until ctx ends.
func (m *Monitor) Crawled(ctx context.Context) (Crawled, error) {
	m.reading.Lock()
	defer m.reading.Unlock()
	if time.Since(m.read) < crawledAge {
		return m.crawled, m.err
	}
	m.mu.Lock()
	c := m.crawl
	m.mu.Unlock()
	if c == nil {
		return m.crawled, frontier.ErrNoRun
	}
	crawled, err := c.crawled(ctx)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) { // the database may respond to the next caller
		return crawled, err
	}
	m.crawled, m.err, m.read = crawled, err, time.Now()
	return crawled, err
}

// activeTime is the maximum age of the last heartbeat of a worker that counts
// as active.
const activeTime = 5 * time.Minute

func (c *crawl) crawled(ctx context.Context) (n Crawled, err error) {
	stats, err := c.queue.Stats(ctx)
	if err != nil {
		return n, err
	}
	n = Crawled{statsOf(stats), 1}
	if c.shared == nil {
		return n, nil
	}
	all, err := c.shared.Workers(ctx)
	n.Workers = 0
	for _, w := range all {
		if now := c.o.Now().Add(time.Duration(c.skew.Load())); now.Sub(w.Beat) < activeTime {
			n.Workers++
		}
	}
	return n, err
}
