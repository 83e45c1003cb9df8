package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) ([]*frontier.Lease, error) {
	return transact(ctx, e, shared, func(t *tx) (ls []*frontier.Lease, err error) {
		found := t.queueClaimable(hosts)
		if err := t.start(); err != nil {
			return nil, err
		}
		if !t.Live {
			return nil, frontier.ErrNoRun
		}
		t.queued.Queue("update worker set beat = $2 where name = $1 and beat < $2::bigint - 5000000", e.worker.Name, t.Now)
		for len(*found) > 0 {
			claimed, err := t.claim(*found, worker, max(perHost, 1), ttl)
			if err != nil {
				return nil, err
			}
			if ls = append(ls, claimed...); len(ls) >= hosts {
				break
			}
			if err := t.settle(); err != nil { // so that queueClaimable does not find the same hosts again
				return nil, err
			}
			found = t.queueClaimable(hosts - len(ls))
			if err := t.sendQueued(); err != nil {
				return nil, err
			}
		}
		return ls, nil
	})
}

// queueClaimable queues a statement that locks up to n hosts that can be claimed.
// The host that has been due for the longest time is first. Hosts of Skip, and
// hosts that another transaction has locked, are skipped.
func (t *tx) queueClaimable(n int) *[]*host {
	const where = "where due <= (select " + txTime + ") and name <> all($2::text[]) order by due limit $1 for no key update skip locked"
	return queueRows(&t.queued, t.scanHosts(t.hosts, changeLock), selectHosts+where, n, t.e.skipped.names())
}

// readyItems selects up to $2 ready items of each host in $1, except those in $3.
const readyItems = "select " + rules.ItemColumns + `, h.id, coalesce(o.objects, 0) from unnest($1::bigint[]) with ordinality h(id, n)
	left join host_count o on o.host = h.id
	cross join lateral (select * from url where host = h.id and state = 0 and wait is null and id <> all($3::bigint[])
		order by wait nulls first, prio, id limit $2) u` + rules.LastCapture + "order by h.n, u.prio, u.id"

// A readyItem is an item that can be visited now.
type readyItem struct {
	frontier.Item
	id      int64 // row number
	host    int64 // row number
	objects int64 // see frontier.Lease
}

// queueReady queues a statement that reads up to n ready items of each host,
// except the items whose row numbers are in the list without.
func queueReady(b *pgx.Batch, hosts []int64, n int, without []int64) *[]readyItem {
	return queueRows(b, func(row pgx.CollectableRow) (r readyItem, err error) {
		r.Item, r.id, err = rules.ScanItem(row.Scan, &r.host, &r.objects)
		return r, err
	}, readyItems, hosts, n, without)
}

// claim returns leases of the given hosts, which this transaction has locked. If
// all items of a host must wait, the host gets no lease. It then becomes due
// later, and its previous lease remains valid.
func (t *tx) claim(hosts []*host, worker string, n int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	ids := column(hosts, func(h *host) int64 { return h.ID })
	var b pgx.Batch
	b.Queue("update url set wait = null where host = any($1) and state = 0 and wait <= $2", ids, t.Now)
	found := queueReady(&b, ids, n, []int64{})
	t.queueNumber(&b)
	if err := t.send(&b); err != nil {
		return nil, err
	}
	ready := map[int64][]readyItem{}
	for _, r := range *found {
		ready[r.host] = append(ready[r.host], r)
	}
	var idle []int64
	for _, h := range hosts {
		items := ready[h.ID]
		if len(items) == 0 {
			idle = append(idle, h.ID)
			continue
		}
		h.Lease(worker, ttl)
		l := h.NewLease(items[0].objects)
		l.Items = addOutstanding(l, items)
		ls = append(ls, l)
	}
	return ls, t.postpone(idle)
}

// addOutstanding adds claimed items to l.Outstanding and returns them.
func addOutstanding(l *frontier.Lease, ready []readyItem) (items []frontier.Item) {
	for _, r := range ready {
		r.Host = l.Host
		items = append(items, r.Item)
		l.Outstanding[r.Key] = r.id
	}
	return items
}

// busyTime is the delay in microseconds before Claim considers a host again
// that other transactions have locked to add URLs.
const busyTime = 10_000

// postpone makes hosts without a ready URL due later, or not at all. It does not
// wait for transactions that add URLs to a host, because they can wait for a host
// that this transaction has locked.
func (t *tx) postpone(hosts []int64) error {
	if len(hosts) == 0 {
		return nil
	}
	t.queued.Queue("update host set due = $2 where id = any($1)", hosts, t.Now+busyTime)
	free := queueRows(&t.queued, pgx.RowTo[int64], "select id from host where id = any($1) for update skip locked", hosts)
	if err := t.sendQueued(); err != nil || len(*free) == 0 {
		return err
	}
	t.queued.Queue("update host h set due = "+computeDue+" where id = any($2)", t.Now, *free)
	return nil
}

func (e *engine) ClaimMore(ctx context.Context, l *frontier.Lease, n int) ([]frontier.Item, error) {
	ready, err := transact(ctx, e, shared, func(t *tx) ([]readyItem, error) { return t.claimMore(l, n) })
	if err != nil {
		return nil, err
	}
	return addOutstanding(l, ready), nil
}

func (t *tx) claimMore(l *frontier.Lease, n int) ([]readyItem, error) {
	hosts := t.queueHosts(&t.queued, t.known, noLock, "where name = $1 and epoch = $2 and until is not null", l.Host, l.Epoch)
	waking := queueRows(&t.queued, pgx.RowTo[bool], "select exists (select from url where host = h.id and state = 0 and wait <= (select "+txTime+
		")) from host h where name = $1", l.Host)
	if err := t.start(); err != nil {
		return nil, err
	}
	if len(*hosts) == 0 {
		t.readOnly = true
		return nil, frontier.ErrFenced
	}
	h, wakes := (*hosts)[0], (*waking)[0]
	t.readOnly = !wakes
	if !h.Open() || n <= 0 {
		return nil, nil
	}
	var b pgx.Batch
	if wakes {
		b.Queue("select from host where id = $1 for no key update", h.ID)
		b.Queue("update url set wait = null where host = $1 and state = 0 and wait <= $2", h.ID, t.Now)
	}
	ready := queueReady(&b, []int64{h.ID}, n, slices.AppendSeq([]int64{}, maps.Values(l.Outstanding)))
	err := t.send(&b)
	return *ready, err
}
