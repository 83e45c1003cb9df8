package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

const (
	maxHostLines = 8    // status lines for hosts
	maxHosts     = 1000 // hosts that are counted separately
	maxHostRows  = 20   // rows of the final table
	hostColumns  = 28   // columns of a host name
)

// otherHosts is the name for all hosts after the first maxHosts ones.
const otherHosts = "other hosts"

// rateTime is the time over which the rate of a host is measured.
const rateTime = time.Second

// A hostCount contains the results of one host.
type hostCount struct {
	bytes                     int64 // received bytes, also of bodies under way
	stored, unchanged, failed int64

	marked   time.Time // time of the last measurement of the rate
	markedAt int64     // value of bytes at this time
	rate     float64   // bytes per second before this time
}

// hostName returns the name of a host as in [mirror.HostStatus].
func hostName(u uri.URI) string { return cmp.Or(strings.ToLower(u.Host()), u.Scheme()+":") }

// host returns the counters of a host. The caller must hold c.mu.
func (c *Crawl) host(name string) *hostCount {
	h, ok := c.hosts[name]
	if !ok && len(c.hosts) >= maxHosts {
		name = otherHosts
		h, ok = c.hosts[name]
	}
	if !ok {
		h = &hostCount{marked: time.Now()}
		c.hosts[name] = h
	}
	return h
}

// Visit counts a visit for the final table.
func (c *Crawl) Visit(e mirror.Event) {
	u, err := uri.Parse(e.URL)
	if err != nil || e.URL == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.host(hostName(u))
	switch {
	case e.State == "dead" || e.Unreached:
		h.failed++
	case e.Unchanged:
		h.unchanged++
	case e.State == "done" || e.State == "kept":
		h.stored++
	}
}

// currentRate returns the rate of a host in the last second.
func (h *hostCount) currentRate(now time.Time) float64 {
	if elapsed := now.Sub(h.marked); elapsed >= rateTime {
		h.rate = float64(h.bytes-h.markedAt) / elapsed.Seconds()
		h.marked, h.markedAt = now, h.bytes
	}
	return h.rate
}

// hostLines returns a line for each active host, with its rate and its queue. It
// returns none if fewer than two hosts are active, because the last status line
// then describes the same host.
func (c *Crawl) hostLines(width int) (lines []string) {
	c.mu.Lock()
	monitor := c.monitor
	c.mu.Unlock()
	if monitor == nil {
		return nil
	}
	active := monitor.Hosts()
	if len(active) < 2 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for i, s := range active {
		if i == maxHostLines {
			lines = append(lines, tty.Cut(fmt.Sprintf("%d more hosts", len(active)-i), width-1))
			break
		}
		h := c.host(s.Host)
		line := fmt.Sprintf("%s %6d queued %3d active %10s/s %10s", column(s.Host, hostColumns), s.Queued, s.Active,
			Size(int64(h.currentRate(now))), Size(h.bytes))
		lines = append(lines, tty.Cut(line, width-1))
	}
	return lines
}

// column fits the name of a host to a number of columns.
func column(name string, columns int) string {
	name = tty.Cut(tty.Escape(name), columns)
	return name + strings.Repeat(" ", columns-tty.Width(name))
}

// Table returns the results of each host, the largest first. It returns "" for
// fewer than two hosts.
func (c *Crawl) Table() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := slices.SortedFunc(maps.Keys(c.hosts), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.hosts[b].bytes, c.hosts[a].bytes), strings.Compare(a, b))
	})
	if len(names) < 2 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %8s %9s %8s %10s\n", column("host", hostColumns), "new", "unchanged", "failed", "received")
	for i, name := range names {
		if i == maxHostRows {
			fmt.Fprintf(&b, "%d more hosts\n", len(names)-i)
			break
		}
		h := c.hosts[name]
		fmt.Fprintf(&b, "%s %8d %9d %8d %10s\n", column(name, hostColumns), h.stored, h.unchanged, h.failed, Size(h.bytes))
	}
	return b.String()
}
