package frontier

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
	changed bool
	stale   bool  // if true, due must be computed again
	now     int64 // time of the transaction, in microseconds
}

// leased reports whether a worker has an unexpired lease of the host. For a
// leased host, the field due is the end of the lease.
func (h *host) leased() bool { return h.until.Int64 > h.now }

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

// setReady makes the host due at the time wait, at which one of its URLs is
// ready. Null means now.
func (h *host) setReady(wait sql.NullInt64) {
	if at := max(h.next, wait.Int64); !h.leased() && at < h.due {
		h.due, h.changed = at, true
	}
}

const readHost = "select id, pending, next, due, epoch, until from host "

func (t *tx) readHost(where string, arg any) (*host, error) {
	h := &host{now: t.now}
	err := t.Scan(readHost+where, []any{arg}, &h.id, &h.pending, &h.next, &h.due, &h.epoch, &h.until)
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
	h.due = max(h.next, t.now) // the host is claimed after the hosts that are already due
	if !ready {
		h.due = farFuture
		if wait.Valid {
			h.due = max(h.next, wait.Int64)
		}
	}
	return nil
}
