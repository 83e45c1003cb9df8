package progress

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// A fakeMonitor has fixed results.
type fakeMonitor struct {
	hosts []mirror.HostStatus
	wait  mirror.Wait
}

func (m *fakeMonitor) Hosts() []mirror.HostStatus   { return m.hosts }
func (m *fakeMonitor) Waiting() (mirror.Wait, bool) { return m.wait, m.wait.Host != "" }

// TestWaiting checks that the status names the host whose pause prevents requests.
func TestWaiting(t *testing.T) {
	c := NewCrawl()
	m := &fakeMonitor{wait: mirror.Wait{Host: "a\x1b.example", Until: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}}
	c.SetMonitor(m)
	s := c.Snapshot()
	const want = `waiting for a\x1b.example until 03:04:05`
	if text := s.CrawlText(); !strings.HasSuffix(text, want) || !strings.Contains(c.Lines(200)[0], want) {
		t.Errorf("got %q", text)
	}
	m.wait = mirror.Wait{}
	if s = c.Snapshot(); strings.Contains(s.CrawlText(), "waiting") {
		t.Errorf("after the wait: %q", s.CrawlText())
	}
}

// TestHosts checks the lines of active hosts and the final table.
func TestHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCrawl()
		m := &fakeMonitor{hosts: []mirror.HostStatus{{Host: "a.example", Queued: 7, Active: 1}}}
		c.SetMonitor(m)
		if lines := c.Lines(100); len(lines) != 1 {
			t.Errorf("one host: %q", lines)
		}
		m.hosts = append(m.hosts, mirror.HostStatus{Host: "b\x1b[2J.example", Queued: 512})
		c.UpdateBody(wrap.Event{ID: 1, State: wrap.Started, URL: uri.MustParse("http://A.example/x")})
		c.UpdateBody(wrap.Event{ID: 1, Bytes: 2048, URL: uri.MustParse("http://A.example/x")})
		time.Sleep(2 * time.Second)
		lines := c.Lines(100)
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "a.example ") || !strings.Contains(lines[0], " 7 queued   1 active    1.0 KiB/s    2.0 KiB") ||
			strings.Contains(lines[1], "\x1b") {
			t.Errorf("two hosts: %q", lines)
		}
		for n := range 20 {
			m.hosts = append(m.hosts, mirror.HostStatus{Host: fmt.Sprint("h", n)})
		}
		for _, width := range []int{20, 80} {
			lines = c.Lines(width)
			if len(lines) != maxHostLines+2 || !strings.HasPrefix(lines[maxHostLines], "14 more hosts") {
				t.Errorf("many hosts: %q", lines)
			}
			for _, line := range lines {
				if tty.Width(line) >= width {
					t.Errorf("%d columns at width %d: %q", tty.Width(line), width, line)
				}
			}
		}
		for _, e := range []mirror.Event{
			{URL: "http://a.example/x", State: "done"}, {URL: "http://a.example/y", State: "done", Unchanged: true},
			{URL: "http://b.example/", State: "dead"}, {URL: "http://b.example/", State: "pending", Unreached: true}, {State: "cut"},
		} {
			c.Visit(e)
		}
		table := strings.Split(c.Table(), "\n")
		if strings.Join(strings.Fields(table[1]), " ") != "a.example 1 1 0 2.0 KiB" {
			t.Errorf("table: %q", table)
		}
		for n := range 2 * maxHosts {
			c.Visit(mirror.Event{URL: fmt.Sprintf("http://x%d.example/", n), State: "done"})
		}
		if len(c.hosts) != maxHosts+1 || strings.Count(c.Table(), "\n") != maxHostRows+2 {
			t.Errorf("%d hosts are counted: %s", len(c.hosts), c.Table())
		}
	})
}
