package fetch

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A deadline determines the time at which the reads or the writes of a conn
// fail. This is the deadline that the caller requested or the end of the idle
// time, whichever is earlier.
type deadline struct {
	set func(time.Time) error // SetReadDeadline or SetWriteDeadline of the underlying connection

	mu        sync.Mutex
	idle      time.Duration // maximum time of a read or a write; 0 means no limit
	requested time.Time     // deadline that the caller requested, or zero
	setAt     time.Time     // start of the idle time at whose end the deadline is
	start     time.Time     // start of the last read or write
}

// deadlineAge is the minimum time between two updates of the deadline of a
// connection. An update for each small read would take longer than the read.
const deadlineAge = time.Second

// apply calls transfer, which reads or writes. It repeats the call if the
// deadline was older than the start of the transfer.
func (d *deadline) apply(transfer func() (int, error)) (int, error) {
	d.refresh()
	for {
		n, err := transfer()
		if n > 0 || err == nil || !d.extend(err) {
			return n, err
		}
	}
}

// refresh starts the idle time of a transfer.
func (d *deadline) refresh() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle == 0 {
		return
	}
	if d.start = time.Now(); d.start.Sub(d.setAt) >= deadlineAge {
		d.update(d.start)
	}
}

// extend reports whether a transfer that failed with err must be repeated,
// because the deadline was older than the start of the transfer. It sets the
// deadline to the end of the idle time.
func (d *deadline) extend(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	expired := !d.requested.IsZero() && !now.Before(d.requested)
	return d.idle > 0 && !expired && now.Before(d.start.Add(d.idle)) && d.update(d.start) == nil
}

// request sets the deadline of the caller. The zero time means no deadline.
func (d *deadline) request(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requested = t
	return d.update(time.Now())
}

// setIdle sets the idle time.
func (d *deadline) setIdle(idle time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle = max(idle, 0)
	d.update(time.Now())
}

// reset sets the deadline again after another value was set directly on the
// underlying connection.
func (d *deadline) reset() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.update(time.Now())
}

// update starts the idle time at the given time. The caller must hold d.mu.
func (d *deadline) update(start time.Time) error {
	d.setAt = start
	t := d.requested
	if end := start.Add(d.idle); d.idle > 0 && (t.IsZero() || end.Before(t)) {
		t = end
	}
	return d.set(t)
}
