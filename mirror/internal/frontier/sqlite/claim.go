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
		if !t.Live {
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

// dueHosts returns up to n hosts that can be claimed. The host that has been
// due for the longest time is first.
//
// Queries contain the limit as the expression "?+0", because SQLite compiles a
// statement again if the limit is a plain parameter.
func (t *tx) dueHosts(n int) ([]*host, error) {
	return t.hostsWhere("where pending > 0 and due <= ? order by due limit ?+0", t.Now, n)
}

// claim leases the host h. If all items of the host must wait, claim returns
// nil. The host is then due later, and its previous lease remains valid.
func (t *tx) claim(h *host, worker string, n int, ttl time.Duration) (*frontier.Lease, error) {
	if err := t.wake(h.ID); err != nil {
		return nil, err
	}
	ids, err := t.readyItems(h.ID, max(n, 1), nil)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		h.Stale = true
		return nil, nil
	}
	h.Lease(worker, ttl)
	l := h.NewLease(h.objects)
	if l.Items, err = t.items(ids, h.Name); err != nil {
		return nil, err
	}
	addOutstanding(l, l.Items, ids)
	return l, nil
}

// wake makes the items of a host ready if their waiting time has passed.
func (t *tx) wake(host int64) error {
	err := t.Exec("update url set wait=null where host=? and wait <= ?", host, t.Now)
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
	items := make([]frontier.Item, 0, len(ids))
	for _, id := range ids {
		item, _, err := rules.ScanItem(func(to ...any) error {
			return s.Scan("select "+rules.ItemColumns+" from url u"+rules.LastCapture+"where u.id=?", []any{id}, to...)
		})
		if err != nil {
			return nil, err
		}
		item.Host = host
		items = append(items, item)
	}
	return items, nil
}

func (e *engine) ClaimMore(ctx context.Context, l *frontier.Lease, n int) (items []frontier.Item, err error) {
	now := rules.Micros(e.now())
	var waking bool
	var id int64
	var ids []int64
	more := func(s *session) error {
		h, err := s.leasedHost(l, now)
		if err != nil || !h.Open() {
			return err
		}
		id = h.ID
		err = s.Scan("select exists (select 1 from url where host=? and wait <= ?)", []any{id, now}, &waking)
		if err != nil || waking {
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
