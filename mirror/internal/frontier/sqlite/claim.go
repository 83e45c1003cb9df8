package sqlite

import (
	"context"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	err = e.writeLease(ctx, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		for len(ls) < hosts {
			due, err := t.dueHosts(hosts - len(ls))
			if err != nil || len(due) == 0 {
				return err
			}
			for _, d := range due {
				l, err := t.claim(d, worker, perHost, ttl)
				if err != nil {
					return err
				}
				if l != nil {
					ls = append(ls, l)
				}
			}
			if err := t.settle(); err != nil { // so that dueHosts does not return the same hosts again
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

// dueHosts returns up to n hosts that can be claimed. The host that has been
// due for the longest time is first.
//
// Queries contain the limit as the expression "?+0", because SQLite compiles a
// statement again if the limit is a plain parameter.
func (t *tx) dueHosts(n int) (found []candidate, err error) {
	const query = "select id, name from host where pending > 0 and due <= ? order by due limit ?+0"
	err = t.ForEachRow(query, []any{t.now, n}, func(r *sqlite.Row) error {
		var c candidate
		defer func() { found = append(found, c) }()
		return r.Scan(&c.id, &c.name)
	})
	return found, err
}

// claim leases the host d. If all items of the host must wait, claim returns
// nil. The host is then due later, and its previous lease remains valid.
func (t *tx) claim(d candidate, worker string, n int, ttl time.Duration) (*frontier.Lease, error) {
	h, err := t.hostOf(d.id)
	if err != nil {
		return nil, err
	}
	if err := t.wake(h.id); err != nil {
		return nil, err
	}
	ids, err := t.readyItems(h.id, max(n, 1), nil)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, t.computeDue(h)
	}
	l := &frontier.Lease{Host: d.name, Outstanding: map[frontier.Key]int64{}}
	if l.Items, err = t.items(ids, d.name); err != nil {
		return nil, err
	}
	addOutstanding(l, l.Items, ids)
	h.epoch++
	h.setLease(t.now + max(ttl.Microseconds(), 1))
	l.Epoch, l.Until, l.Control, l.Objects = h.epoch, timeOf(h.until), h.control.export(d.name), h.control.objects
	err = t.Exec("update host set owner=? where id=?", worker, h.id)
	return l, err
}

// wake makes the items of a host ready if their waiting time has passed.
func (t *tx) wake(host int64) error {
	err := t.Exec("update url set wait=null where host=? and wait <= ?", host, t.now)
	return err
}

// addOutstanding adds the claimed items and their row numbers to l.Outstanding.
func addOutstanding(l *frontier.Lease, items []frontier.Item, ids []int64) {
	for i := range items {
		l.Outstanding[items[i].Key] = ids[i]
	}
}

// readyItems returns the row numbers of up to n items of a host that are ready.
// It skips the items in the map out. The query reads only an index.
func (s *session) readyItems(host int64, n int, out map[frontier.Key]int64) (ids []int64, err error) {
	known := make(map[int64]struct{}, len(out))
	for _, id := range out {
		known[id] = struct{}{}
	}
	const query = "select id from url where host=? and state=0 and wait is null order by prio, id limit ?+0"
	err = s.ForEachRow(query, []any{host, n + len(out)}, func(r *sqlite.Row) error {
		var id int64
		err := r.Scan(&id)
		if _, out := known[id]; !out && len(ids) < n {
			ids = append(ids, id)
		}
		return err
	})
	return ids, err
}

// items returns the items with the given row numbers. All items must belong to
// host.
func (s *session) items(ids []int64, host string) ([]frontier.Item, error) {
	run, err := s.newestRun()
	if err != nil {
		return nil, err
	}
	items := make([]frontier.Item, 0, len(ids))
	for _, id := range ids {
		err := s.ForEachRow("select "+itemColumns+"'' from url u where u.id=?", []any{id}, func(r *sqlite.Row) error {
			item, _, err := s.scanItem(r, run)
			item.Host = host
			items = append(items, item)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

func (e *engine) ClaimMore(ctx context.Context, l *frontier.Lease, n int) (items []frontier.Item, err error) {
	now := rules.Micros(e.now())
	var waking bool
	var id int64
	var ids []int64
	more := func(s *session) error {
		if id, err = s.leasedHostID(l); err != nil {
			return err
		}
		var open bool
		err = s.Scan(`select next <= ?1 and until > ?1,
			exists (select 1 from url where host=?2 and wait <= ?1) from host where id=?2`,
			[]any{now, id}, &open, &waking)
		if err != nil || !open || waking {
			return err
		}
		if ids, err = s.readyItems(id, n, l.Outstanding); err != nil {
			return err
		}
		items, err = s.items(ids, l.Host)
		return err
	}
	if err = e.read(ctx, more); err == nil && waking {
		if err = e.writeLease(ctx, func(t *tx) error { return t.wake(id) }); err == nil {
			err = e.read(ctx, more)
		}
	}
	if err != nil {
		return nil, err
	}
	addOutstanding(l, items, ids)
	return items, nil
}
