package mirror

import (
	"context"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// ErrPaused means that all pending URLs belong to hosts that PauseHost has
// paused.
var ErrPaused = fetch.TooLarge.Errorf("all URLs that are left belong to paused hosts")

// ErrStopped means that Options.Stop ended the run. The next run continues it.
var ErrStopped = fetch.Canceled.Errorf("the run was stopped")

// stopped reports whether Options.Stop is closed.
func (c *crawl) stopped() bool {
	select {
	case <-c.o.Stop:
		return true
	default:
		return false
	}
}

// stopHosts ends the visits to all hosts. Requests that were already sent are
// completed.
func (c *crawl) stopHosts() {
	c.visited.Range(func(_, h any) bool {
		h.(*hostWorker).stop()
		return true
	})
}

// checkHosts stops the visits to hosts whose settings have changed. The next
// claim of such a host returns its new settings.
func (c *crawl) checkHosts(ctx context.Context) error {
	hosts := []string{}
	c.visited.Range(func(host, _ any) bool {
		hosts = append(hosts, host.(string))
		return true
	})
	if len(hosts) == 0 {
		return nil
	}
	controls, err := c.queue.Controls(ctx, hosts)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		now := controls[host]
		if h := c.hostWorker(host); h != nil && h.differs(now) {
			h.stop()
		}
	}
	return nil
}

// hostWorker returns the hostWorker that visits host, or nil.
func (c *crawl) hostWorker(host string) *hostWorker {
	h, _ := c.visited.Load(host)
	w, _ := h.(*hostWorker)
	return w
}

// differs reports whether the settings of the host have changed since the lease
// was claimed.
func (h *hostWorker) differs(now frontier.HostControl) bool {
	was := h.lease.Control
	return was.Paused != now.Paused || was.Excluded != now.Excluded || was.Delay != now.Delay
}

// stop ends the visits to the host. Requests that were already sent are
// completed, and the other items remain pending.
func (h *hostWorker) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pause()
	for _, n := range h.connections {
		n.stop()
	}
}

// delayOf returns the minimum time between two requests to the host of req. It
// ignores the Crawl-delay of robots.txt.
func (c *crawl) delayOf(req *fetch.Request) time.Duration { return c.baseDelay(hostOf(req.URL)) }

func (c *crawl) baseDelay(host string) time.Duration {
	if h := c.hostWorker(host); h != nil && h.lease.Control.Delay != 0 {
		return max(h.lease.Control.Delay, 0)
	}
	return c.defaultDelay(host)
}

// keepCrawlDelay stores the Crawl-delay of a host in the frontier before the
// next request to the host. Otherwise, the delay would be lost if this worker
// crashes.
func (c *crawl) keepCrawlDelay(ctx context.Context, host string, delay time.Duration) error {
	h := c.hostWorker(host)
	if h == nil {
		return nil
	}
	h.mu.Lock()
	longer := delay > h.crawlDelay
	h.crawlDelay = max(h.crawlDelay, delay)
	h.mu.Unlock()
	if !longer || delay <= max(h.lease.Control.CrawlDelay, c.defaultDelay(host)) {
		return nil
	}
	_, err := c.queue.Control(ctx, host, func(s *frontier.HostControl) { s.CrawlDelay = delay })
	return err
}

// nextRequest returns the earliest time at which another worker may send a
// request to the host after the lease is released.
func (h *hostWorker) nextRequest() time.Time {
	if h.c.shared == nil {
		return time.Time{} // the next lease belongs to this process, which stores the time of the last request
	}
	h.mu.Lock()
	delay := h.crawlDelay
	h.mu.Unlock()
	return h.c.databaseTime(h.c.o.Now().Add(max(delay, h.c.baseDelay(h.lease.Host))))
}

// databaseTime converts a time of the local clock to a time of the database.
func (c *crawl) databaseTime(t time.Time) time.Time {
	if c.shared == nil || t.IsZero() {
		return t
	}
	return t.Add(time.Duration(c.skew.Load()))
}

// localTime converts a time of the database to a time of the local clock.
func (c *crawl) localTime(t time.Time) time.Time {
	if c.shared == nil || t.IsZero() {
		return t
	}
	return t.Add(-time.Duration(c.skew.Load()))
}
