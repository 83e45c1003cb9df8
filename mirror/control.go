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
}

// view opens the frontier of the crawl for reading and calls f.
func (p Location) view(ctx context.Context, f func(frontier.Frontier) error) error {
	if p.Frontier == nil {
		return archive.View(ctx, p.Dir, f)
	}
	return archive.Classify(viewShared(ctx, p.Frontier, func(s frontier.Shared) error { return f(s) }))
}

// alter opens the frontier of the crawl for changes of states and settings, and
// calls f.
func (p Location) alter(ctx context.Context, f func(frontier.Frontier) error) error {
	if p.Frontier == nil {
		return archive.Alter(ctx, p.Dir, f)
	}
	return p.view(ctx, f)
}

// The following functions change the settings of a host. A running crawl
// applies them within five seconds. Requests that were already sent are
// completed, and the other URLs remain pending. The settings also apply to
// later runs. If the crawl has no URL of the host, the fault of the error is
// fetch.Usage.

// PauseHost stops the requests to a host.
func PauseHost(ctx context.Context, p Location, host string) error {
	_, err := p.control(ctx, host, func(c *frontier.HostControl) { c.Paused = true })
	return err
}

// ResumeHost allows requests to a host again after PauseHost.
func ResumeHost(ctx context.Context, p Location, host string) error {
	_, err := p.control(ctx, host, func(c *frontier.HostControl) { c.Paused = false })
	return err
}

// ExcludeHost sets the state of all pending URLs of a host to Excluded and
// returns their number. URLs of the host that the crawl finds later are
// excluded as well. A call of Requeue with the state Excluded ends the
// exclusion of all hosts.
func ExcludeHost(ctx context.Context, p Location, host string) (n int64, err error) {
	return p.control(ctx, host, func(c *frontier.HostControl) { c.Excluded = true })
}

// SetHostDelay sets the minimum time between the starts of two requests to a
// host, in place of Options.Delay. 0 means Options.Delay, and a negative value
// means no delay. A longer Crawl-delay in robots.txt takes precedence.
func SetHostDelay(ctx context.Context, p Location, host string, delay time.Duration) error {
	if delay < 0 {
		delay = -time.Microsecond // the precision of the frontier
	}
	_, err := p.control(ctx, host, func(c *frontier.HostControl) { c.Delay = delay })
	return err
}

func (p Location) control(ctx context.Context, host string, change func(*frontier.HostControl)) (n int64, err error) {
	host = strings.ToLower(host)
	err = p.alter(ctx, func(f frontier.Frontier) (err error) {
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
	Paused   bool   `json:"paused,omitempty"`   // see PauseHost
	Excluded bool   `json:"excluded,omitempty"` // see ExcludeHost

	// Delay is the minimum number of seconds between two requests, as set by
	// SetHostDelay. It is nil if SetHostDelay was not called.
	Delay *float64 `json:"delay,omitempty"`

	// CrawlDelay is the Crawl-delay of robots.txt in seconds, if it is longer
	// than Options.Delay.
	CrawlDelay float64 `json:"crawl_delay,omitempty"`
}

// ControlledHosts returns the hosts that have settings of their own, ordered by
// name.
func ControlledHosts(ctx context.Context, p Location) (all []ControlledHost, err error) {
	err = p.view(ctx, func(f frontier.Frontier) error {
		controls, err := f.Controls(ctx, nil)
		for name, c := range controls {
			h := ControlledHost{Host: name, Paused: c.Paused, Excluded: c.Excluded, CrawlDelay: c.CrawlDelay.Seconds()}
			if c.Delay != 0 {
				seconds := max(c.Delay, 0).Seconds()
				h.Delay = &seconds
			}
			all = append(all, h)
		}
		return err
	})
	slices.SortFunc(all, func(a, b ControlledHost) int { return cmp.Compare(a.Host, b.Host) })
	return all, err
}
