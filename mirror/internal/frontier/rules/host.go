package rules

import (
	"database/sql"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A Host is a row of the table host and the settings of the host. The
// transaction writes the row at its end if Changed is true. Times and durations
// are in microseconds.
type Host struct {
	ID    int64
	Name  string
	Next  int64         // earliest time of the next request
	Due   sql.NullInt64 // time at which Claim considers the host; null if no URL is pending
	Epoch int64         // number of the newest lease
	Until sql.NullInt64 // end of the lease; null if the host has none
	Owner string        // worker of a lease that this transaction starts

	Held       sql.NullInt64 // value of Next without the pause, if the host is paused
	Delay      int64         // see frontier.HostControl
	CrawlDelay int64
	Excluded   bool
	Objects    int64 // see frontier.Lease; the engine for PostgreSQL reads it only for a claim

	Now      int64 // time of the transaction
	MinDelay int64 // delay of hosts without settings
	Pending  int64 // number of pending URLs, or only the change by this transaction

	Changed bool // if true, a field other than Pending has changed
	Stale   bool // if true, Due must be computed again, unless the host is leased
}

// Control returns the settings of the host.
func (h *Host) Control() frontier.HostControl {
	return frontier.HostControl{
		Host: h.Name, Paused: h.Held.Valid, Excluded: h.Excluded,
		Delay: time.Duration(h.Delay) * time.Microsecond, CrawlDelay: time.Duration(h.CrawlDelay) * time.Microsecond,
	}
}

// ChangeControl changes the settings of the host, and reports whether the change
// excludes the host.
func (h *Host) ChangeControl(change func(*frontier.HostControl)) (excludes bool) {
	c := h.Control()
	change(&c)
	excludes = c.Excluded && !h.Excluded
	switch {
	case c.Paused && !h.Held.Valid:
		h.Held, h.Next = sql.NullInt64{Int64: h.Next, Valid: true}, PausedTime
	case !c.Paused && h.Held.Valid:
		h.Held, h.Next = sql.NullInt64{}, h.Held.Int64
	}
	h.Delay, h.CrawlDelay, h.Excluded = c.Delay.Microseconds(), c.CrawlDelay.Microseconds(), c.Excluded
	h.Changed, h.Stale = true, true
	if h.Leased() {
		h.setLease(h.Until.Int64)
	}
	return excludes
}

// delay returns the minimum time between the end of an expired lease and the
// next lease.
func (h *Host) delay() int64 { return max(h.Delay, h.CrawlDelay, h.MinDelay, 0) }

// Leased reports whether the host has a lease that has not expired, or that has
// expired less than the delay ago. Due is then the end of the delay.
func (h *Host) Leased() bool { return h.Until.Valid && h.Until.Int64+h.delay() > h.Now }

// Open reports whether ClaimMore may return items of the host.
func (h *Host) Open() bool { return h.Next <= h.Now && h.Until.Int64 > h.Now }

// lease starts a lease for a worker. The lease has no items yet.
func (h *Host) lease(worker string, ttl time.Duration) *frontier.Lease {
	h.Epoch++
	h.Owner = worker
	h.Extend(max(ttl, time.Microsecond))
	return &frontier.Lease{
		Host: h.Name, Epoch: h.Epoch, Until: TimeOf(h.Until), Control: h.Control(), Objects: h.Objects,
		Outstanding: map[frontier.Key]int64{},
	}
}

// Extend sets the end of the lease.
func (h *Host) Extend(ttl time.Duration) { h.setLease(h.Now + ttl.Microseconds()) }

// setLease sets the end of the lease. If no worker releases the lease, the host
// is due when its delay after this end has passed.
func (h *Host) setLease(until int64) {
	h.Until = sql.NullInt64{Int64: until, Valid: true}
	h.Due = sql.NullInt64{Int64: max(h.Next, until+h.delay()), Valid: true}
	h.Changed = true
}

// Release ends the lease and blocks the host until the given time. A later time
// of another block takes precedence.
func (h *Host) Release(next int64) {
	h.block(next)
	h.Until, h.Stale = sql.NullInt64{}, true
}

// Evict ends the lease of a worker that may have sent a request just before.
func (h *Host) Evict() { h.Release(h.Now + h.delay()) }

// Block prevents claims of the host before the given time. It has no effect if
// the host is already blocked until a later time.
func (h *Host) Block(until int64) {
	h.block(until)
	if h.Due.Valid {
		h.Due.Int64 = max(h.Due.Int64, h.Next)
	}
}

func (h *Host) block(until int64) {
	if h.Held.Valid {
		h.Held.Int64 = max(h.Held.Int64, until)
	}
	h.Next = max(h.Next, until)
	h.Changed = true
}

// LimitWaits shortens the block and the lease of the host, so that they end at
// the time latest. The delay of the host is added.
func (h *Host) LimitWaits(latest int64) {
	h.Next = min(h.Next, latest+h.delay())
	if h.Until.Valid {
		h.setLease(min(h.Until.Int64, latest))
	}
	h.Changed, h.Stale = true, true
}

// ReadyAt returns the time at which the host becomes due if one of its URLs is
// ready at the given time, where null means now. The result early reports
// whether this changes the host. A host that is already due keeps its place
// among the due hosts.
func (h *Host) ReadyAt(wait sql.NullInt64) (at int64, early bool) {
	at = max(h.Next, wait.Int64)
	return at, !h.Leased() && (!h.Due.Valid || at < h.Due.Int64 && h.Due.Int64 > h.Now)
}

// SetReady makes the host due at the time of ReadyAt or earlier.
func (h *Host) SetReady(wait sql.NullInt64) {
	if at, early := h.ReadyAt(wait); early {
		h.Due, h.Changed = sql.NullInt64{Int64: at, Valid: true}, true
	}
}

// NeedsDue reports whether the transaction must compute Due again at its end.
func (h *Host) NeedsDue() bool { return h.Stale && !h.Leased() }

// SetDue sets Due of a host that is not leased. The parameter ready reports
// whether a URL is ready, and wait is the earliest end of the wait of the other
// pending URLs. Hosts that are already due are claimed before this host.
func (h *Host) SetDue(ready bool, wait sql.NullInt64) {
	switch {
	case ready:
		h.Due = sql.NullInt64{Int64: max(h.Next, h.Now), Valid: true}
	case wait.Valid:
		h.Due = sql.NullInt64{Int64: max(h.Next, wait.Int64), Valid: true}
	default:
		h.Due = sql.NullInt64{}
	}
	h.Changed, h.Stale = true, false
}

// addPending adds n to the number of pending URLs if state is Pending.
func (h *Host) addPending(state frontier.State, n int64) {
	if state == frontier.Pending {
		h.Pending += n
	}
}
