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
	return transact(ctx, e, shared, func(t *tx) ([]*frontier.Lease, error) {
		t.due = t.queueDue(hosts)
		if err := t.start(); err != nil {
			return nil, err
		}
		t.queued.Queue("update worker set beat = $2 where name = $1 and beat < $2::bigint - 5000000", e.worker.Name, t.Now)
		return t.Claim(worker, hosts, perHost, ttl)
	})
}

// queueDue queues a statement that locks up to n hosts that can be claimed. Hosts
// of Skip, and hosts that another transaction has locked, are skipped.
func (t *tx) queueDue(n int) *[]*host {
	const where = "where due <= (select " + txTime + ") and name <> all($2::text[]) order by due limit $1 for no key update skip locked"
	return queueRows(&t.queued, t.scanHosts(t.hosts, changeLock), selectHosts+where, n, t.e.skipped.names())
}

// FindDue implements rules.Store. It first writes the hosts that were claimed, so
// that it does not find them again. The first call returns the hosts that were
// read together with the start of the transaction.
func (t *tx) FindDue(n int) ([]*rules.Host, error) {
	found := t.due
	if t.due = nil; found == nil {
		err := t.settle()
		if found = t.queueDue(n); err == nil {
			err = t.sendQueued()
		}
		if err != nil {
			return nil, err
		}
	}
	return column(*found, func(h *host) *rules.Host { return &h.Host }), nil
}

// readyItems selects up to $2 ready items of each host in $1, except those in $3.
const readyItems = "select " + rules.ItemColumns + `, h.id, coalesce(o.objects, 0) from unnest($1::bigint[]) with ordinality h(id, n)
	left join host_count o on o.host = h.id
	cross join lateral (select * from url where host = h.id and state = 0 and wait is null and id <> all($3::bigint[])
		order by wait nulls first, prio, id limit $2) u` + rules.LastCapture + "order by h.n, u.prio, u.id"

// queueReady queues a statement that reads up to n ready items of each host,
// except the items whose row numbers are in the list without.
func (t *tx) queueReady(b *pgx.Batch, hosts []int64, n int, without []int64) *[]rules.ReadyItem {
	return queueRows(b, func(row pgx.CollectableRow) (r rules.ReadyItem, err error) {
		var objects int64
		r.Item, r.ID, err = rules.ScanItem(row.Scan, &r.HostID, &objects)
		if h := t.hosts.ids[r.HostID]; h != nil {
			h.Objects = objects
		}
		return r, err
	}, readyItems, hosts, n, without)
}

// WakeItems implements rules.Store.
func (t *tx) WakeItems(hosts []*rules.Host, n int) ([]rules.ReadyItem, error) {
	ids := column(hosts, func(h *rules.Host) int64 { return h.ID })
	var b pgx.Batch
	b.Queue("update url set wait = null where host = any($1) and state = 0 and wait <= $2", ids, t.Now)
	ready := t.queueReady(&b, ids, n, []int64{})
	t.queueNumber(&b)
	if err := t.send(&b); err != nil {
		return nil, err
	}
	idle := slices.DeleteFunc(ids, func(id int64) bool {
		return slices.ContainsFunc(*ready, func(r rules.ReadyItem) bool { return r.HostID == id })
	})
	return *ready, t.postpone(idle)
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
	ready, err := transact(ctx, e, shared, func(t *tx) ([]rules.ReadyItem, error) { return t.claimMore(l, n) })
	if err != nil {
		return nil, err
	}
	return rules.AddOutstanding(l, ready), nil
}

func (t *tx) claimMore(l *frontier.Lease, n int) ([]rules.ReadyItem, error) {
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
	ready := t.queueReady(&b, []int64{h.ID}, n, slices.AppendSeq([]int64{}, maps.Values(l.Outstanding)))
	err := t.send(&b)
	return *ready, err
}
