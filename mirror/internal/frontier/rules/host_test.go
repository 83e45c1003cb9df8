package rules

import (
	"database/sql"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

const now = 1000 // time of the transactions in tests, in microseconds

func at(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: true} }

var null sql.NullInt64

// TestHost checks what each change does to the times of a host.
func TestHost(t *testing.T) {
	control := func(change func(*frontier.HostControl)) func(*Host) {
		return func(h *Host) { h.ChangeControl(change) }
	}
	pause := control(func(c *frontier.HostControl) { c.Paused = true })
	resume := control(func(c *frontier.HostControl) { c.Paused = false })
	ready := func(wait sql.NullInt64) func(*Host) { return func(h *Host) { h.SetReady(wait) } }
	tests := []struct {
		name   string
		host   Host
		change func(*Host)
		want   Host
		due    bool // if true, Due must be computed again
	}{
		{"block until a later time", Host{Next: 5, Due: at(7)}, func(h *Host) { h.Block(9) }, Host{Next: 9, Due: at(9)}, false},
		{"block until an earlier time", Host{Next: 9, Due: at(9)}, func(h *Host) { h.Block(5) }, Host{Next: 9, Due: at(9)}, false},
		{"block without pending URLs", Host{}, func(h *Host) { h.Block(9) }, Host{Next: 9}, false},
		{"block while paused", Host{Next: PausedTime, Held: at(5), Due: at(PausedTime)}, func(h *Host) { h.Block(9) },
			Host{Next: PausedTime, Held: at(9), Due: at(PausedTime)}, false},
		{"lease", Host{Epoch: 3, Due: at(1)}, func(h *Host) { h.lease("w", 50*time.Microsecond) },
			Host{Epoch: 4, Owner: "w", Until: at(1050), Due: at(1050)}, false},
		{"lease without duration", Host{}, func(h *Host) { h.lease("w", 0) }, Host{Epoch: 1, Owner: "w", Until: at(1001), Due: at(1001)}, false},
		{"lease with the longest of three delays", Host{Delay: 3, CrawlDelay: 7, MinDelay: 5}, func(h *Host) { h.Extend(1000) },
			Host{Delay: 3, CrawlDelay: 7, MinDelay: 5, Until: at(1001), Due: at(1008)}, false},
		{"lease without a delay", Host{Delay: -1}, func(h *Host) { h.Extend(1000) }, Host{Delay: -1, Until: at(1001), Due: at(1001)}, false},
		{"lease of a blocked host", Host{Next: 5000}, func(h *Host) { h.Extend(1000) }, Host{Next: 5000, Until: at(1001), Due: at(5000)}, false},
		{"release", Host{Until: at(2000), Due: at(2000)}, func(h *Host) { h.Release(3000) }, Host{Next: 3000, Due: at(2000)}, true},
		{"release before the end of a block", Host{Next: 4000, Until: at(2000)}, func(h *Host) { h.Release(3000) }, Host{Next: 4000}, true},
		{"evict", Host{Until: at(2000), Delay: 7}, func(h *Host) { h.Evict() }, Host{Next: now + 7, Delay: 7}, true},

		{"ready now", Host{Next: 5}, ready(null), Host{Next: 5, Due: at(5)}, false},
		{"ready later", Host{Next: 5}, ready(at(2000)), Host{Next: 5, Due: at(2000)}, false},
		{"ready earlier than another URL", Host{Due: at(3000)}, ready(at(2000)), Host{Due: at(2000)}, false},
		{"ready later than another URL", Host{Due: at(2000)}, ready(at(3000)), Host{Due: at(2000)}, false},
		{"ready, but blocked", Host{Next: 4000}, ready(at(2000)), Host{Next: 4000, Due: at(4000)}, false},
		{"a host that is due keeps its place", Host{Due: at(900)}, ready(null), Host{Due: at(900)}, false},
		{"a postponed URL", Host{}, ready(at(FarFuture)), Host{Due: at(FarFuture)}, false},
		{"ready during a lease", Host{Until: at(2000), Due: at(2000)}, ready(null), Host{Until: at(2000), Due: at(2000)}, false},
		{"ready in the delay after a lease", Host{Until: at(999), MinDelay: 5, Due: at(1004)}, ready(null),
			Host{Until: at(999), MinDelay: 5, Due: at(1004)}, false},
		{"ready after the delay of a lease", Host{Until: at(990), MinDelay: 5, Due: at(3000)}, ready(null),
			Host{Until: at(990), MinDelay: 5, Due: at(0)}, false},

		{"due with a ready URL", Host{Next: 5}, func(h *Host) { h.SetDue(true, at(7)) }, Host{Next: 5, Due: at(now)}, false},
		{"due with a waiting URL", Host{Next: 5}, func(h *Host) { h.SetDue(false, at(2000)) }, Host{Next: 5, Due: at(2000)}, false},
		{"due without URLs", Host{Due: at(7)}, func(h *Host) { h.SetDue(false, null) }, Host{}, false},

		{"pause", Host{Next: 5, Due: at(7)}, pause, Host{Next: PausedTime, Held: at(5), Due: at(7)}, true},
		{"pause a leased host", Host{Next: 5, Until: at(2000)}, pause, Host{Next: PausedTime, Held: at(5), Until: at(2000), Due: at(PausedTime)}, false},
		{"pause twice", Host{Next: PausedTime, Held: at(5)}, pause, Host{Next: PausedTime, Held: at(5)}, true},
		{"resume", Host{Next: PausedTime, Held: at(5)}, resume, Host{Next: 5}, true},
		{"resume a host that is not paused", Host{Next: 5}, resume, Host{Next: 5}, true},
		{"settings", Host{}, control(func(c *frontier.HostControl) {
			c.Delay, c.CrawlDelay, c.Excluded = -time.Microsecond, time.Millisecond, true
		}), Host{Delay: -1, CrawlDelay: 1000, Excluded: true}, true},

		{"limit a block", Host{Next: 9000, Delay: 7}, func(h *Host) { h.LimitWaits(2000) }, Host{Next: 2007, Delay: 7}, true},
		{"limit a shorter block", Host{Next: 1500}, func(h *Host) { h.LimitWaits(2000) }, Host{Next: 1500}, true},
		{"limit a lease", Host{Until: at(9000), Due: at(9000)}, func(h *Host) { h.LimitWaits(2000) }, Host{Until: at(2000), Due: at(2000)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := test.host
			h.Now = now
			test.change(&h)
			if got := h.NeedsDue(); got != test.due {
				t.Errorf("NeedsDue is %t, want %t", got, test.due)
			}
			h.Now, h.Changed, h.Stale = 0, false, false
			if h != test.want {
				t.Errorf("got  %+v\nwant %+v", h, test.want)
			}
		})
	}
}

// TestOpen checks when ClaimMore may return items.
func TestOpen(t *testing.T) {
	for _, test := range []struct {
		name string
		host Host
		want bool
	}{
		{"leased", Host{Until: at(1001), Next: 1000}, true},
		{"blocked", Host{Until: at(1001), Next: 1001}, false},
		{"expired", Host{Until: at(1000)}, false},
		{"expired less than the delay ago", Host{Until: at(1000), Delay: 9}, false},
		{"released", Host{}, false},
	} {
		if test.host.Now = now; test.host.Open() != test.want {
			t.Errorf("%s: got %t", test.name, !test.want)
		}
	}
}
