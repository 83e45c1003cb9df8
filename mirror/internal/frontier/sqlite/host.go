package sqlite

import (
	"database/sql"
	"errors"
)

// host is a row of the table host. Its changes are written to the database by
// settle.
type host struct {
	id      int64
	pending int64
	next    int64
	due     int64
	epoch   int64
	until   sql.NullInt64
	control control
	changed bool
	stale   bool  // if true, due must be computed again
	now     int64 // time of the transaction, in microseconds
}

// control is a row of the table control, or zero if the host has no row.
type control struct {
	held         sql.NullInt64
	delay, crawl int64
	excluded     bool
	objects      int64
	changed      bool
}

// pausedTime is the value in the column "next" of a paused host.
const pausedTime = 1 << 62

// block prevents claims of the host before the given time. It has no effect if
// the host is already blocked until a later time.
func (h *host) block(until int64) {
	if h.control.held.Valid {
		h.control.held.Int64 = max(h.control.held.Int64, until)
		h.control.changed = true
	}
	h.next = max(h.next, until)
	h.changed = true
}

// setLease sets the end of the lease. If no worker releases the lease, the host
// is due when its delay after this end has passed.
func (h *host) setLease(until int64) {
	h.until = sql.NullInt64{Int64: until, Valid: true}
	h.due, h.changed = max(h.next, until+h.control.pause()), true
}

// pause returns the minimum time between the end of an expired lease and the
// next lease of the host.
func (c *control) pause() int64 { return max(c.delay, c.crawl, 0) }

// leased reports whether the host has a lease that has not expired, or that has
// expired less than the delay ago. The field due is then the end of the delay.
func (h *host) leased() bool { return h.until.Valid && h.until.Int64+h.control.pause() > h.now }

// addPending adds n to the number of pending URLs of the host.
func (h *host) addPending(n int64) {
	if h.pending == 0 && !h.leased() {
		h.due = farFuture // until setReady is called
	}
	h.pending += n
	h.changed = true
}

// removePending subtracts one from the number of pending URLs of the host. The
// field due may then be too early, but Claim tolerates this.
func (h *host) removePending() {
	h.pending--
	h.changed = true
}

// setReady makes the host due at the given time or earlier, because one of its
// URLs is then ready. Null means now.
func (h *host) setReady(wait sql.NullInt64) {
	if at := max(h.next, wait.Int64); !h.leased() && at < h.due {
		h.due, h.changed = at, true
	}
}

const readHost = `select id, pending, next, due, epoch, until, held, coalesce(delay, 0), coalesce(crawl, 0),
	coalesce(excluded, 0), coalesce(objects, 0) from host left join control on control.host = id `

func (t *tx) readHost(where string, arg any) (*host, error) {
	h := &host{now: t.now}
	err := t.Scan(readHost+where, []any{arg}, &h.id, &h.pending, &h.next, &h.due, &h.epoch, &h.until,
		&h.control.held, &h.control.delay, &h.control.crawl, &h.control.excluded, &h.control.objects)
	if err != nil {
		return nil, err
	}
	if known := t.hosts[h.id]; known != nil {
		return known, nil
	}
	t.hosts[h.id] = h
	return h, nil
}

// host returns the host with the given name. It inserts the row if necessary.
func (t *tx) host(name string) (*host, error) {
	if h := t.names[name]; h != nil {
		return h, nil
	}
	h, err := t.readHost("where name=?", name)
	if errors.Is(err, sql.ErrNoRows) {
		h = &host{now: t.now}
		if h.id, err = t.insert("insert into host (name) values (?)", name); err == nil {
			t.hosts[h.id] = h
		}
	}
	if err != nil {
		return nil, err
	}
	t.names[name] = h
	return h, nil
}

// hostOf returns the host with the row number id.
func (t *tx) hostOf(id int64) (*host, error) {
	if h := t.hosts[id]; h != nil {
		return h, nil
	}
	return t.readHost("where id=?", id)
}

// settle writes all changed hosts to the database.
func (t *tx) settle() error {
	for _, h := range t.hosts {
		if h.stale && !h.leased() {
			if err := t.computeDue(h); err != nil {
				return err
			}
		}
		if !h.changed {
			continue
		}
		err := t.Exec("update host set pending=?, next=?, due=?, epoch=?, until=? where id=?",
			h.pending, h.next, h.due, h.epoch, h.until, h.id)
		if c := &h.control; err == nil && c.changed {
			c.changed = false
			err = t.Exec(`insert into control (host, held, delay, crawl, excluded, objects) values (?1, ?2, ?3, ?4, ?5, ?6)
				on conflict (host) do update set held=?2, delay=?3, crawl=?4, excluded=?5, objects=?6`,
				h.id, c.held, c.delay, c.crawl, c.excluded, c.objects)
		}
		if err != nil {
			return err
		}
		h.changed, h.stale = false, false
	}
	return nil
}

// endLease ends the lease of the host. It has no effect if the host is not
// leased.
func (t *tx) endLease(h *host) error {
	h.until = sql.NullInt64{}
	return t.computeDue(h)
}

// computeDue sets the field due of the host. The host must not be leased.
func (t *tx) computeDue(h *host) error {
	h.changed = true
	var ready bool
	var wait sql.NullInt64
	err := t.Scan(`select exists (select 1 from url where host=?1 and state=0 and wait is null),
		(select min(wait) from url where host=?1 and wait is not null)`, []any{h.id}, &ready, &wait)
	if err != nil {
		return err
	}
	h.due = max(h.next, t.now) // hosts that are already due are claimed before this host
	if !ready {
		h.due = farFuture
		if wait.Valid {
			h.due = max(h.next, wait.Int64)
		}
	}
	return nil
}
