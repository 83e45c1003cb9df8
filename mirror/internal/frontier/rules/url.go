package rules

import (
	"database/sql"
	"fmt"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A URL is a row of the table url.
type URL struct {
	ID       int64 // row number; 0 if the engine has not assigned one yet
	Key      frontier.Key
	State    frontier.State
	Run      int64 // newest run that added or completed the URL
	Host     int64
	Priority int
	Depth    int
	Attempts int // number of failed attempts in Run

	// An engine need not read the following fields. Each change of a URL sets
	// Wait and Note. Last is null if the newest capture stays the same.
	Wait    sql.NullInt64 // time until which the URL waits; null if it is ready
	Note    string
	Last    sql.NullInt64 // row number of the newest capture
	Meta    []byte        // new value, if SetMeta is true
	SetMeta bool

	Item    *frontier.Item // item of a URL that this transaction inserts, or nil
	Visited bool           // if true, a Result belongs to the URL, not only a link
	Changed bool
}

// Readd reports whether Add makes the URL pending again in the given run: an
// earlier run added the URL, and it is not immutable.
func (u *URL) Readd(run int64) bool { return u.Run != run && u.State != frontier.Kept }

// setPending applies the rules of Add to a URL of an earlier run.
func (u *URL) setPending(item *frontier.Item, run int64, wait sql.NullInt64) {
	prio := item.Priority
	if u.State == frontier.Pending || u.State == frontier.Dead {
		prio = max(prio, u.Priority)
	}
	u.requeue(run)
	u.Priority, u.Depth, u.Wait, u.Meta, u.SetMeta = prio, item.Depth, wait, item.Meta, true
}

// requeue makes the URL pending and ready.
func (u *URL) requeue(run int64) {
	u.State, u.Run, u.Attempts, u.Wait, u.Note, u.Changed = frontier.Pending, run, 0, sql.NullInt64{}, "", true
}

// setResult applies the result of a visit in the given run.
func (u *URL) setResult(r *frontier.Result, run, now int64) {
	if u.Run != run {
		u.Attempts = 0
	}
	u.State, u.Run, u.Wait, u.Note, u.Visited, u.Changed = r.State, run, sql.NullInt64{}, r.Note, true, true
	if r.State == frontier.Pending {
		u.Attempts++
		u.Wait = RetryOf(r, now)
	}
	if r.Defer {
		u.Priority++
	}
	if r.Meta != nil {
		u.Meta, u.SetMeta = r.Meta, true
	}
}

// RetryOf returns the time until which an item waits whose result has the state
// Pending.
func RetryOf(r *frontier.Result, now int64) sql.NullInt64 {
	if r.Postpone {
		return sql.NullInt64{Int64: FarFuture, Valid: true}
	}
	return WaitOf(r.Retry, now)
}

// checkItem returns an error if an item has no key, no URL or no host.
func checkItem(item *frontier.Item) error {
	switch {
	case item.Key.IsZero():
		return fmt.Errorf("frontier: item has no key: URL %q", item.URL)
	case item.URL == "" || item.Host == "":
		return fmt.Errorf("frontier: item has no URL or no host: URL %q, host %q", item.URL, item.Host)
	}
	return nil
}
