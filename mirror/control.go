package mirror

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A Location identifies a crawl: by the directory of its archive, or by the
// frontier that its workers share. Dir is ignored if Frontier is not nil.
type Location struct {
	Dir      string
	Frontier Frontier
	Store    Store // store of a crawl with a shared frontier, for Verify and Abandon; nil if it has none
}

// A Crawl reads and changes a crawl: its URLs, its settings and its hosts. All
// methods support archives in a directory, and crawls with a shared frontier
// unless noted otherwise. They can be called during a run, and by several
// goroutines.
type Crawl struct{ place Location }

// Open returns the crawl at a location. It does not open the database. Each
// method opens the database and closes it before it returns. If there is no
// crawl, the methods return an error.
func Open(place Location) *Crawl { return &Crawl{place} }

// errNotShared is the error of a method that needs a shared frontier.
var errNotShared = fetch.Usage.Errorf("the crawl has no shared frontier")

// viewShared opens the shared frontier of the crawl for reading and calls f.
func (c *Crawl) viewShared(ctx context.Context, f func(frontier.Shared) error) error {
	if c.place.Frontier == nil {
		return errNotShared
	}
	return viewShared(ctx, c.place.Frontier, f)
}

// view opens the frontier of the crawl for reading and calls f.
func (c *Crawl) view(ctx context.Context, f func(frontier.Frontier) error) error {
	if c.place.Frontier == nil {
		return archive.View(ctx, c.place.Dir, f)
	}
	return archive.Classify(c.viewShared(ctx, func(s frontier.Shared) error { return f(s) }))
}

// alter opens the frontier of the crawl for changes of states and settings, and
// calls f.
func (c *Crawl) alter(ctx context.Context, f func(frontier.Frontier) error) error {
	if c.place.Frontier == nil {
		return archive.Alter(ctx, c.place.Dir, f)
	}
	return c.view(ctx, f)
}

// PauseHost stops the requests to a host. A running crawl applies the setting
// within five seconds, as with ResumeHost, ExcludeHost and SetHostDelay. Requests
// that were already sent are completed, and the other URLs remain pending. The
// setting also applies to later runs. If the crawl has no URL of the host, the
// fault of the error is fetch.Usage.
func (c *Crawl) PauseHost(ctx context.Context, host string) error {
	_, err := c.control(ctx, host, func(h *frontier.HostControl) { h.Paused = true })
	return err
}

// ResumeHost allows requests to a host again after PauseHost.
func (c *Crawl) ResumeHost(ctx context.Context, host string) error {
	_, err := c.control(ctx, host, func(h *frontier.HostControl) { h.Paused = false })
	return err
}

// ExcludeHost sets the state of all pending URLs of a host to Excluded and
// returns their number. URLs of the host that the crawl finds later are
// excluded as well. A call of Requeue with the state Excluded ends the
// exclusion of all hosts.
func (c *Crawl) ExcludeHost(ctx context.Context, host string) (n int64, err error) {
	return c.control(ctx, host, func(h *frontier.HostControl) { h.Excluded = true })
}

// SetHostDelay sets the minimum time between the starts of two requests to a
// host, in place of Options.Delay. 0 means Options.Delay, and a negative value
// means no delay. A longer Crawl-delay in robots.txt takes precedence.
func (c *Crawl) SetHostDelay(ctx context.Context, host string, delay time.Duration) error {
	if delay < 0 {
		delay = -time.Microsecond // the precision of the frontier
	}
	_, err := c.control(ctx, host, func(h *frontier.HostControl) { h.Delay = delay })
	return err
}

func (c *Crawl) control(ctx context.Context, host string, change func(*frontier.HostControl)) (n int64, err error) {
	host = strings.ToLower(host)
	err = c.alter(ctx, func(f frontier.Frontier) (err error) {
		n, err = f.Control(ctx, host, change)
		return err
	})
	if errors.Is(err, frontier.ErrUnknownHost) {
		return 0, fetch.Usage.Errorf("the crawl has no URL of the host %s; a host is a name without a scheme and a port", host)
	}
	return n, err
}

// A ControlledHost contains the settings of a host of a crawl.
type ControlledHost struct {
	Host     string `json:"host"`
	Paused   bool   `json:"paused,omitempty"`   // see [Crawl.PauseHost]
	Excluded bool   `json:"excluded,omitempty"` // see [Crawl.ExcludeHost]

	// Delay is the minimum number of seconds between two requests, as set by
	// SetHostDelay. It is nil if SetHostDelay was not called.
	Delay *float64 `json:"delay,omitempty"`

	// CrawlDelay is the Crawl-delay of robots.txt in seconds, if it is longer
	// than Options.Delay.
	CrawlDelay float64 `json:"crawl_delay,omitempty"`
}

// ControlledHosts returns the hosts that have settings of their own, ordered by
// name.
func (c *Crawl) ControlledHosts(ctx context.Context) (all []ControlledHost, err error) {
	err = c.view(ctx, func(f frontier.Frontier) error {
		controls, err := f.Controls(ctx, nil)
		for name, h := range controls {
			shown := ControlledHost{Host: name, Paused: h.Paused, Excluded: h.Excluded, CrawlDelay: h.CrawlDelay.Seconds()}
			if h.Delay != 0 {
				seconds := max(h.Delay, 0).Seconds()
				shown.Delay = &seconds
			}
			all = append(all, shown)
		}
		return err
	})
	slices.SortFunc(all, func(a, b ControlledHost) int { return cmp.Compare(a.Host, b.Host) })
	return all, err
}
