package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	var due []int64
	first := func(t *tx, b *pgx.Batch) {
		due = nil
		t.queueDue(b, hosts, &due)
	}
	err = e.writeAfter(ctx, shared, first, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		t.last.Queue("update worker set beat = $2 where name = $1 and beat < $2::bigint - 5000000", e.worker.Name, t.now)
		for ls = nil; len(due) > 0; {
			claimed, err := t.claim(due, worker, max(perHost, 1), ttl)
			if err != nil {
				return err
			}
			if ls = append(ls, claimed...); len(ls) >= hosts {
				break
			}
			due = nil
			t.queueDue(&t.last, hosts-len(ls), &due)
			if err := t.sendLast(); err != nil {
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

// queueDue queues a statement that locks up to n hosts that can be claimed, and
// stores their row numbers in ids. The host that has been due for the longest
// time is first. Hosts of Skip, and hosts that another transaction has locked, are
// skipped.
func (t *tx) queueDue(b *pgx.Batch, n int, ids *[]int64) {
	b.Queue("select id from host where due <= (select "+txTime+") and name <> all($2::text[]) order by due limit $1 for no key update skip locked",
		n, t.e.skipped.names()).
		Query(func(rows pgx.Rows) (err error) {
			*ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			return err
		})
}

// readyItems selects up to $2 ready items of each host in $1, except those in $3.
const readyItems = "select " + itemColumns + ", h.n, t.name, t.epoch, " + controlColumns + `, coalesce(o.objects, 0) from unnest($1::bigint[]) with ordinality h(id, n)
	join host t on t.id = h.id left join host_count o on o.host = h.id
	cross join lateral (select * from url where host = h.id and state = 0 and wait is null and id <> all($3::bigint[])
		order by wait nulls first, prio, id limit $2) u` + lastCapture + "order by h.n, u.prio, u.id"

// A readyItem is an item that can be visited now.
type readyItem struct {
	frontier.Item
	id    int64 // row number
	host  int   // index in the list of hosts
	epoch int64 // epoch of the previous lease of the host
	control
	objects int64
}

// queueReady queues a statement that reads up to n ready items of each host,
// except the items whose row numbers are in the list without. It calls add for
// each item, in the order of the hosts.
func queueReady(b *pgx.Batch, hosts []int64, n int, without []int64, add func(readyItem)) {
	b.Queue(readyItems, hosts, n, without).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var r readyItem
			var number int
			var name string
			var err error
			more := append([]any{&number, &name, &r.epoch}, r.control.fields()...)
			if r.Item, r.id, err = scanItem(rows, append(more, &r.objects)...); err != nil {
				return err
			}
			r.host, r.Host = number-1, name
			add(r)
		}
		return rows.Err()
	})
}

// claim returns leases of the given hosts, which this transaction has locked. If
// all items of a host must wait, the host gets no lease. It then becomes due
// later, and its previous lease remains valid.
func (t *tx) claim(hosts []int64, worker string, n int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	until := t.now + max(ttl.Microseconds(), 1)
	leased := map[int64]bool{}
	var b pgx.Batch
	b.Queue("update url set wait = null where host = any($1) and state = 0 and wait <= $2", hosts, t.now)
	last := -1
	queueReady(&b, hosts, n, []int64{}, func(r readyItem) {
		if r.host != last {
			last = r.host
			leased[hosts[r.host]] = true
			ls = append(ls, &frontier.Lease{
				Host: r.Host, Epoch: r.epoch + 1, Until: time.UnixMicro(until).UTC(), Outstanding: map[frontier.Key]int64{},
				Control: r.export(r.Host), Objects: r.objects,
			})
		}
		l := ls[len(ls)-1]
		l.Items = append(l.Items, r.Item)
		l.Outstanding[r.Key] = r.id
	})
	t.queueNumber(&b)
	if err := t.send(&b); err != nil {
		return nil, err
	}
	var claimed, idle []int64
	for _, id := range hosts {
		if leased[id] {
			claimed = append(claimed, id)
		} else {
			idle = append(idle, id)
		}
	}
	t.last.Queue("update host set epoch = epoch + 1, until = $2, owner = $4, "+leasedDue+" where id = any($1)",
		claimed, until, t.pause(), worker)
	return ls, t.postpone(idle)
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
	var free []int64
	t.last.Queue("update host set due = $2 where id = any($1)", hosts, t.now+busyTime)
	t.last.Queue("select id from host where id = any($1) for update skip locked", hosts).Query(func(rows pgx.Rows) (err error) {
		free, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	if err := t.sendLast(); err != nil || len(free) == 0 {
		return err
	}
	t.last.Queue("update host h set due = "+computeDue+" where id = any($2)", t.now, free)
	return nil
}

func (e *engine) ClaimMore(ctx context.Context, l *frontier.Lease, n int) (items []frontier.Item, err error) {
	var ids []int64
	var host, next, until int64
	var waking bool
	first := func(t *tx, b *pgx.Batch) {
		host = 0
		b.Queue("select id, next, until, exists (select from url where host = h.id and state = 0 and wait <= (select "+txTime+`)) from host h
			where name = $1 and epoch = $2 and until is not null`, l.Host, l.Epoch).QueryRow(func(r pgx.Row) error {
			return ignoreMissing(r.Scan(&host, &next, &until, &waking))
		})
	}
	err = e.writeAfter(ctx, shared, first, func(t *tx) error {
		items, ids = nil, nil
		t.readOnly = !waking
		switch {
		case host == 0:
			return frontier.ErrFenced
		case next > t.now || until <= t.now || n <= 0:
			return nil
		}
		out := make([]int64, 0, len(l.Outstanding))
		for _, id := range l.Outstanding {
			out = append(out, id)
		}
		var b pgx.Batch
		if waking {
			b.Queue("select from host where id = $1 for no key update", host)
			b.Queue("update url set wait = null where host = $1 and state = 0 and wait <= $2", host, t.now)
		}
		queueReady(&b, []int64{host}, n, out, func(r readyItem) { items, ids = append(items, r.Item), append(ids, r.id) })
		return t.send(&b)
	})
	if err != nil {
		return nil, err
	}
	for i := range items {
		l.Outstanding[items[i].Key] = ids[i]
	}
	return items, nil
}
