package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/frontier"
)

func (e *engine) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	err = e.write(ctx, shared, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		if err := t.exec("update worker set beat = $2 where name = $1 and beat < $2::bigint - 5000000", e.worker.Name, t.now); err != nil {
			return err
		}
		for ls = nil; len(ls) < hosts; {
			due, err := t.dueHosts(hosts - len(ls))
			if err != nil || len(due) == 0 {
				return err
			}
			claimed, err := t.claim(due, worker, max(perHost, 1), ttl)
			if err != nil {
				return err
			}
			ls = append(ls, claimed...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ls, nil
}

// dueHosts locks and returns the row numbers of up to n hosts that can be
// claimed. The host that has been due for the longest time is first. Hosts that
// another transaction has locked are skipped.
func (t *tx) dueHosts(n int) ([]int64, error) {
	rows, err := t.Query(t.ctx, "select id from host where due <= $1 order by due limit $2 for update skip locked", t.now, n)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// readyItems selects up to $2 ready items of each host in $1.
const readyItems = "select " + itemColumns + `, h.n, t.name, t.epoch, t.next from unnest($1::bigint[]) with ordinality h(id, n)
	join host t on t.id = h.id
	cross join lateral (select * from url where host = h.id and state = 0 and wait is null and id <> all($3::bigint[])
		order by prio, id limit $2) u` + lastCapture + "order by h.n, u.prio, u.id"

// claim leases locked hosts. If all items of a host must wait, the host is due
// later, and its previous lease remains valid.
func (t *tx) claim(hosts []int64, worker string, n int, ttl time.Duration) (ls []*frontier.Lease, err error) {
	until := t.now + max(ttl.Microseconds(), 1)
	leased := map[int64]bool{}
	var b pgx.Batch
	b.Queue("update url set wait = null where host = any($1) and wait <= $2", hosts, t.now)
	b.Queue(readyItems, hosts, n, []int64{}).Query(func(rows pgx.Rows) error {
		last := int64(0)
		for rows.Next() {
			var number, epoch, next int64
			var name string
			item, id, err := scanItem(rows, &number, &name, &epoch, &next)
			if err != nil {
				return err
			}
			item.Host = name
			if number != last {
				last = number
				leased[hosts[number-1]] = true
				ls = append(ls, &frontier.Lease{
					Host: name, Epoch: epoch + 1, Until: time.UnixMicro(until).UTC(), Outstanding: map[frontier.Key]int64{},
				})
			}
			l := ls[len(ls)-1]
			l.Items = append(l.Items, item)
			l.Outstanding[item.Key] = id
		}
		return rows.Err()
	})
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
	b = pgx.Batch{}
	b.Queue("update host set epoch = epoch + 1, until = $2, due = greatest(next, $2), owner = $3 where id = any($1)",
		claimed, until, worker)
	b.Queue("update host h set due = "+computeDue+" where id = any($2)", t.now, idle)
	return ls, t.send(&b)
}

func (e *engine) ClaimMore(ctx context.Context, l *frontier.Lease, n int) (items []frontier.Item, err error) {
	var ids []int64
	err = e.write(ctx, shared, func(t *tx) error {
		items, ids = nil, nil
		var host, next, until int64
		var waking bool
		err := t.QueryRow(t.ctx, `select id, next, until, exists (select from url where host = h.id and wait <= $3) from host h
			where name = $1 and epoch = $2 and until is not null`, l.Host, l.Epoch, t.now).Scan(&host, &next, &until, &waking)
		switch {
		case err != nil:
			return fencedIfMissing(err)
		case next > t.now || until <= t.now || n <= 0:
			return nil
		}
		out := make([]int64, 0, len(l.Outstanding))
		for _, id := range l.Outstanding {
			out = append(out, id)
		}
		var b pgx.Batch
		if waking {
			b.Queue("select from host where id = $1 for update", host)
			b.Queue("update url set wait = null where host = $1 and wait <= $2", host, t.now)
		}
		b.Queue(readyItems, []int64{host}, n, out).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var number, epoch, next int64
				var name string
				item, id, err := scanItem(rows, &number, &name, &epoch, &next)
				if err != nil {
					return err
				}
				item.Host = name
				items, ids = append(items, item), append(ids, id)
			}
			return rows.Err()
		})
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
