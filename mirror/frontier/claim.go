package frontier

import (
	"context"
	"database/sql"
	"time"
)

func (e *engine) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) (ls []*Lease, err error) {
	err = e.hold(ctx, func(t *tx) error {
		if !t.live {
			return errNoRun
		}
		for len(ls) < hosts {
			due, err := t.due(hosts - len(ls))
			if err != nil || len(due) == 0 {
				return err
			}
			for _, d := range due {
				l, err := t.claim(d.id, worker, perHost, ttl)
				if err != nil {
					return err
				}
				if l != nil {
					l.Host = d.name
					ls = append(ls, l)
				}
			}
			if err := t.settle(); err != nil { // due must not see these again
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ls, nil
}

type candidate struct {
	id   int64
	name string
}

// due finds up to n hosts, those first that have waited longest.
func (t *tx) due(n int) (found []candidate, err error) {
	err = t.each("select id, name from host where pending > 0 and due <= ? order by due limit ?", []any{t.now, n}, func(r *sql.Rows) error {
		var c candidate
		defer func() { found = append(found, c) }()
		return r.Scan(&c.id, &c.name)
	})
	return found, err
}

// claim leases one host that seems due. Where its items turn out to wait, it
// is nil, and the host is due later; who had the host last may still speak.
func (t *tx) claim(id int64, worker string, n int, ttl time.Duration) (*Lease, error) {
	h, err := t.hostOf(id)
	if err != nil {
		return nil, err
	}
	if err := t.wake(h.id); err != nil {
		return nil, err
	}
	rows, err := t.ready(h.id, max(n, 1))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, t.judge(h)
	}
	l := &Lease{Out: map[Key]struct{}{}}
	if l.Items, err = t.items(rows); err != nil {
		return nil, err
	}
	for i := range l.Items {
		l.Out[l.Items[i].Key] = struct{}{}
	}
	until := t.now + max(ttl.Microseconds(), 1)
	h.epoch++
	h.until = sql.NullInt64{Int64: until, Valid: true}
	h.due = max(h.next, until)
	h.changed = true
	l.Epoch, l.Until = h.epoch, timeOf(h.until)
	_, err = t.exec("update host set owner=? where id=?", worker, h.id)
	return l, err
}

// wake makes those items ready whose time has come.
func (t *tx) wake(host int64) error {
	_, err := t.exec("update url set wait=null where host=? and wait <= ?", host, t.now)
	return err
}

// A ready item, not yet read.
type ready struct {
	id  int64
	key Key
}

// ready finds the first n.
func (s *session) ready(host int64, n int) (rows []ready, err error) {
	err = s.each("select id, key from url where host=? and state=0 and wait is null order by prio, id limit ?", []any{host, n}, func(r *sql.Rows) error {
		var row ready
		var key []byte
		if err := r.Scan(&row.id, &key); err != nil {
			return err
		}
		copy(row.key[:], key)
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// items reads them whole.
func (s *session) items(rows []ready) ([]Item, error) {
	items := make([]Item, 0, len(rows))
	for _, r := range rows {
		err := s.each("select "+itemColumns+" where u.id=?", []any{r.id}, func(r *sql.Rows) error {
			item, err := s.item(r)
			items = append(items, item)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

func (e *engine) More(ctx context.Context, l *Lease, n int) (items []Item, err error) {
	now := micros(e.now())
	var waking bool
	var id int64
	more := func(s *session) error {
		if id, err = s.held(l); err != nil {
			return err
		}
		var open bool
		err = s.scan("select next <= ?1 and until > ?1, exists (select 1 from url where host=?2 and wait <= ?1) from host where id=?2",
			[]any{now, id}, &open, &waking)
		if err != nil || !open || waking {
			return err
		}
		rows, err := s.ready(id, n+len(l.Out))
		if err != nil {
			return err
		}
		fresh := rows[:0]
		for _, r := range rows {
			if _, out := l.Out[r.key]; !out && len(fresh) < n {
				fresh = append(fresh, r)
			}
		}
		items, err = s.items(fresh)
		return err
	}
	if err = e.read(ctx, more); err == nil && waking {
		if err = e.hold(ctx, func(t *tx) error { return t.wake(id) }); err == nil {
			err = e.read(ctx, more)
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range items {
		l.Out[items[i].Key] = struct{}{}
	}
	return items, nil
}
