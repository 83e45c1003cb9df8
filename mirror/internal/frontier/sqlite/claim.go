package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	err = e.writeLease(ctx, func(t *tx) error {
		ls, err = t.Claim(worker, hosts, perHost, ttl)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ls, nil
}

// FindDue implements rules.Store. It first writes the hosts that were claimed,
// so that it does not find them again.
//
// Queries contain the limit as the expression "?+0", because SQLite compiles a
// statement again if the limit is a plain parameter.
func (t *tx) FindDue(n int) (due []*rules.Host, err error) {
	if err := t.settle(); err != nil {
		return nil, err
	}
	found, err := t.hostsWhere("where pending > 0 and due <= ? order by due limit ?+0", t.Now, n)
	for _, h := range found {
		due = append(due, &h.Host)
	}
	return due, err
}

// WakeItems implements rules.Store.
func (t *tx) WakeItems(hosts []*rules.Host, n int) (ready []rules.ReadyItem, err error) {
	for _, h := range hosts {
		if err := t.wake(h.ID); err != nil {
			return nil, err
		}
		items, err := t.readyItems(h.ID, n, nil)
		if err != nil {
			return nil, err
		}
		h.Stale = len(items) == 0
		ready = append(ready, items...)
	}
	return ready, nil
}

// wake makes the items of a host ready if their waiting time has passed.
func (t *tx) wake(host int64) error {
	err := t.Exec("update url set wait=null where host=? and wait <= ?", host, t.Now)
	return err
}

// readyItems returns up to n items of a host that are ready, and fewer if their
// texts have pageBytes. It skips the items in the map out. The first query reads
// only an index.
func (s *session) readyItems(host int64, n int, out map[frontier.Key]int64) (items []rules.ReadyItem, err error) {
	known := make(map[int64]struct{}, len(out))
	for _, id := range out {
		known[id] = struct{}{}
	}
	const query = "select id from url where host=? and state=0 and wait is null order by prio, id limit ?+0"
	ids, err := s.rowNumbers(query, host, n+len(out))
	bytes := 0
	for _, id := range ids {
		if _, out := known[id]; out || len(items) == n || bytes >= pageBytes || err != nil {
			continue
		}
		r := rules.ReadyItem{HostID: host, ID: id}
		var last sql.NullInt64
		r.Item, _, err = rules.ScanRow(func(to ...any) error {
			return s.Scan("select "+rules.RowColumns+", u.last from url u where u.id=?", []any{id}, to...)
		}, &last)
		if last.Valid && err == nil {
			var c frontier.Capture
			c, err = s.captureOf("c.id=?", last.Int64)
			r.Item.LastCapture = &c
			bytes += c.TextSize()
		}
		bytes += len(r.Item.URL) + len(r.Item.Meta) + len(r.Item.Note)
		items = append(items, r)
	}
	return items, err
}

func (e *engine) ClaimMore(ctx context.Context, l *frontier.Lease, n int) ([]frontier.Item, error) {
	now := rules.Micros(e.now())
	var waking int64 // host whose items must be made ready first, or 0
	var ready []rules.ReadyItem
	more := func(s *session) error {
		waking = 0
		h, err := s.leasedHost(l, now)
		if err != nil || !h.Open() {
			return err
		}
		var wakes bool
		err = s.Scan("select exists (select 1 from url where host=? and wait <= ?)", []any{h.ID, now}, &wakes)
		if wakes {
			waking = h.ID
		} else if err == nil {
			ready, err = s.readyItems(h.ID, n, l.Outstanding)
		}
		return err
	}
	err := e.read(ctx, more)
	if err == nil && waking != 0 {
		if err = e.writeLease(ctx, func(t *tx) error { return t.wake(waking) }); err == nil {
			err = e.read(ctx, more)
		}
	}
	if err != nil {
		return nil, err
	}
	return rules.AddOutstanding(l, ready), nil
}
