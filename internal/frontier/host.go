package frontier

import (
	"database/sql"
	"errors"
)

// host is a row of the table, changed in memory until settle.
type host struct {
	id      int64
	pending int64
	next    int64
	due     int64
	epoch   int64
	until   sql.NullInt64
	changed bool
	stale   bool  // due is to be worked out anew
	now     int64 // of the transaction
}

// leased reports whether somebody has h whose time is not over: then due is
// the end of that.
func (h *host) leased() bool { return h.until.Int64 > h.now }

// gain counts n more URLs that are pending.
func (h *host) gain(n int64) {
	if h.pending == 0 && !h.leased() {
		h.due = never // until ready says when
	}
	h.pending += n
	h.changed = true
}

// lose counts one less. That due is too early then does no harm.
func (h *host) lose() {
	h.pending--
	h.changed = true
}

// ready says that a URL may be asked for at the time wait, null being now.
func (h *host) ready(wait sql.NullInt64) {
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

// host finds or makes the row of a name.
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

// hostOf finds a row by its id.
func (t *tx) hostOf(id int64) (*host, error) {
	if h := t.hosts[id]; h != nil {
		return h, nil
	}
	return t.readHost("where id=?", id)
}

// settle writes the hosts that have changed.
func (t *tx) settle() error {
	for _, h := range t.hosts {
		if h.stale && !h.leased() {
			if err := t.judge(h); err != nil {
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

// free ends the lease of h, if there is one.
func (t *tx) free(h *host) error {
	h.until = sql.NullInt64{}
	return t.judge(h)
}

// judge works out when h is due, which nobody has.
func (t *tx) judge(h *host) error {
	h.changed = true
	var ready bool
	var wait sql.NullInt64
	err := t.Scan(`select exists (select 1 from url where host=?1 and state=0 and wait is null),
		(select min(wait) from url where host=?1 and wait is not null)`, []any{h.id}, &ready, &wait)
	if err != nil {
		return err
	}
	h.due = max(h.next, t.now) // behind those that were due before
	if !ready {
		h.due = never
		if wait.Valid {
			h.due = max(h.next, wait.Int64)
		}
	}
	return nil
}
