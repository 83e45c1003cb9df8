package progress

import (
	"fmt"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/wrap"
)

// A Crawl collects the progress of a mirror. Its methods are safe for concurrent
// use.
type Crawl struct {
	started time.Time

	mu       sync.Mutex
	monitor  Monitor // the hosts that are visited now, or nil
	url      string  // URL of the body that started last
	retries  int64
	progress mirror.Progress
	bytes    int64            // size of all complete bodies
	bodies   map[uint64]int64 // received bytes of each unfinished body, by wrap.Event.ID
	hosts    map[string]*hostCount
}

// NewCrawl returns a new Crawl.
func NewCrawl() *Crawl {
	return &Crawl{started: time.Now(), bodies: map[uint64]int64{}, hosts: map[string]*hostCount{}}
}

// Update records the current progress of the mirror.
func (c *Crawl) Update(p mirror.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = p
}

// A Monitor reports the current state of a run. [mirror.Monitor] implements it.
type Monitor interface {
	Hosts() []mirror.HostStatus
	Waiting() (mirror.Wait, bool)
}

// SetMonitor sets the Monitor of the run.
func (c *Crawl) SetMonitor(m Monitor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.monitor = m
}

// Retry records that a request is sent again.
func (c *Crawl) Retry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retries++
}

// UpdateBody adds the bytes of unfinished downloads, which are reported by the
// Progress middleware. A [mirror.Progress] counts only complete bodies.
func (c *Crawl) UpdateBody(e wrap.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.State == wrap.Started {
		c.url = plainURL(e.URL)
	}
	c.host(hostName(e.URL)).bytes += e.Bytes - c.bodies[e.ID]
	if c.bodies[e.ID] = e.Bytes; e.State == wrap.Ended {
		c.bytes += e.Bytes
		delete(c.bodies, e.ID)
	}
}

// Snapshot returns the current state. The time until the end is estimated for
// the URLs that are known so far.
func (c *Crawl) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.progress
	s := Snapshot{
		URL: c.url, Bytes: c.bytes, Elapsed: since(c.started), Active: int64(len(c.bodies)), Retries: c.retries,
		Done: p.New + p.Repaired, Unchanged: p.Unchanged + p.Listed, Failed: p.Failed + p.Unreached,
		Left: p.Pending, Hosts: p.Hosts, started: true,
	}
	for _, n := range c.bodies {
		s.Bytes += n
	}
	if c.monitor != nil {
		if w, ok := c.monitor.Waiting(); ok {
			s.WaitingHost, s.WaitingUntil = terminal.Plain(w.Host), w.Until.UTC()
		}
	}
	s.Rate = rate(s.Bytes, max(s.Elapsed, 1))
	visited := s.Done + p.Unchanged + s.Failed + p.Excluded + p.Gone // not p.Listed: listed objects take no time
	if visited > 0 && s.Left > 0 {
		s.ETA = s.Elapsed / float64(visited) * float64(s.Left)
	}
	return s
}

// Lines returns the status lines for a terminal of the given width: one for each
// active host, if there are several, and one for the crawl.
func (c *Crawl) Lines(width int) []string {
	s := c.Snapshot()
	return append(c.hostLines(width), s.line(s.crawlParts(), width, false))
}

// CrawlText returns the snapshot of a mirror as one line of any length.
func (s *Snapshot) CrawlText() string { return s.line(s.crawlParts(), 0, false) }

// crawlParts returns the parts of the status line for a mirror, from left to
// right.
func (s *Snapshot) crawlParts() []part {
	all := []part{{count(s.Done, "new"), 10}}
	if s.Unchanged > 0 {
		all = append(all, part{", " + count(s.Unchanged, "unchanged"), 3})
	}
	all = s.appendErrors(all)
	all = append(all, part{", " + count(s.Left, "left"), 9}, part{", hosts: " + fmt.Sprint(s.Hosts), 5}, part{Size(s.Bytes), 2},
		part{Size(int64(s.Rate)) + "/s", 6}, part{clock(s.Elapsed), 8})
	if s.ETA > 0 {
		all = append(all, part{"eta " + clock(s.ETA), 4})
	}
	if s.WaitingHost != "" {
		all = append(all, part{"waiting for " + s.WaitingHost + " until " + s.WaitingUntil.Local().Format(time.TimeOnly), 7})
	}
	return all
}

func count(n int64, name string) string { return fmt.Sprintf("%d %s", n, name) }
