package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Abandon(ctx context.Context, worker string, o frontier.AbandonOptions) (a frontier.Abandoned, err error) {
	return transact(ctx, e, exclusive, func(t *tx) (a frontier.Abandoned, err error) {
		beats := queueRows(&t.queued, pgx.RowTo[int64], "select beat from worker where name = $1 for update", worker)
		if err := t.start(); err != nil {
			return a, err
		}
		if len(*beats) == 0 {
			return a, fmt.Errorf("the crawl has no worker %s", worker)
		}
		if silent := time.Duration(t.Now-(*beats)[0]) * time.Microsecond; silent < o.Quiet {
			return a, fmt.Errorf("the worker %s was active %v ago: wait until it is silent for %v",
				worker, silent.Round(time.Second), o.Quiet)
		}
		stored := append([]string{}, o.Stored...) // not nil, because nil would become null
		if err := t.countAbandoned(worker, stored, &a); err != nil || o.DryRun {
			return a, err
		}
		return a, t.abandon(worker, stored)
	})
}

// lostFiles is the SQL condition that a file f of the worker $1 is lost,
// because it is not in the store. The parameter $2 contains the names of stored
// files that the database does not record as stored.
const lostFiles = "f.worker = $1 and f.state < 2 and not (f.state = 1 and f.name = any($2::text[]))"

// lostURLs selects the retrieved URLs whose most recent capture is in a lost
// file.
const lostURLs = "from url u join capture c on c.id = u.last join file f on f.id = c.file where " + lostFiles +
	" and u.state in (1, 2)"

func (t *tx) countAbandoned(worker string, stored []string, a *frontier.Abandoned) error {
	var b pgx.Batch
	count := func(n *int64, query string, args ...any) {
		b.Queue(query, args...).QueryRow(func(r pgx.Row) error { return r.Scan(n) })
	}
	count(&a.Stored, "select count(*) from file where worker = $1 and state = 1 and name = any($2)", worker, stored)
	count(&a.Files, "select count(*) from file f where "+lostFiles, worker, stored)
	count(&a.Records, "select count(*) from capture c join file f on f.id = c.file where "+lostFiles, worker, stored)
	count(&a.URLs, "select count(*) "+lostURLs, worker, stored)
	count(&a.Leases, "select count(*) from host where until is not null and owner = $1", worker)
	return t.send(&b)
}

// abandon makes the changes to the database that Abandon describes.
func (t *tx) abandon(worker string, stored []string) error {
	type lostURL struct {
		rules.URL
		size int64
	}
	lost, err := selectRows(t, func(r pgx.CollectableRow) (u lostURL, err error) {
		var state int16
		err = r.Scan(&u.ID, &state, &u.Run, &u.Host, &u.size)
		u.State = frontier.State(state)
		return u, err
	}, "select u.id, u.state, u.run, u.host, c.size "+lostURLs+" for update of u", worker, stored)
	if err != nil {
		return err
	}
	var counted frontier.Counts // visits of this run that are lost
	var ids, hosts []int64
	for _, u := range lost {
		if u.Run == t.Run {
			counted.Files++
			counted.Bytes += u.size
		}
		t.Tally.Move(&u.URL, t.Run, frontier.Pending)
		ids, hosts = append(ids, u.ID), append(hosts, u.Host)
	}
	var b pgx.Batch
	b.Queue("update worker set incarnation = incarnation + 1, folder = '' where name = $1", worker)
	b.Queue("update url set state = 0, run = $2, attempts = 0, wait = null, note = null where id = any($1)", ids, t.Run)
	b.Queue("update capture set file = null, at = 0, bytes = 0, checksum = null where file in (select id from file f where "+lostFiles+")",
		worker, stored)
	b.Queue("delete from file f where "+lostFiles, worker, stored)
	b.Queue("delete from unlogged where worker = $1", worker)
	b.Queue("update file set state = 2 where worker = $1 and state = 1", worker)
	for name, n := range map[string]int64{rules.FilesCounter: counted.Files, rules.BytesCounter: counted.Bytes} {
		t.queueCount(&b, worker, name, -n) // another worker may have counted the visit, but only the sums matter
	}
	if len(lost) > 0 {
		t.reopen(&b)
	}
	ended := queueRows(&b, pgx.RowTo[int64], "update host set until = null where until is not null and owner = $1 returning id", worker)
	if err := t.send(&b); err != nil {
		return err
	}
	return t.computeDues(append(hosts, *ended...))
}

// reopen queues statements that continue the newest run if it has ended.
func (t *tx) reopen(b *pgx.Batch) {
	if !t.Live && t.Run > 0 {
		b.Queue("update book set live = true")
		b.Queue("update run set ended = null where id = $1", t.Run)
	}
}

func (e *engine) Reopen(ctx context.Context) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		var b pgx.Batch
		t.reopen(&b)
		return t.send(&b)
	})
}

func (e *engine) Workers(ctx context.Context) ([]frontier.WorkerState, error) {
	const query = `select w.name, w.beat, ` + timeNow + `, w.url_rate, w.byte_rate, (select count(*) from host where until is not null and owner = w.name),
		count(f.id), count(f.id) filter (where f.state = 2), count(f.id) filter (where f.state = 1),
		coalesce(sum(f.size) filter (where f.state = 1), 0)::bigint
		from worker w left join file f on f.worker = w.name where w.folder <> '' group by w.name order by w.name`
	return collect(ctx, e, query, []any{e.clock()}, func(rows pgx.CollectableRow) (w frontier.WorkerState, err error) {
		var beat, now int64
		err = rows.Scan(&w.Name, &beat, &now, &w.URLRate, &w.ByteRate, &w.Leases, &w.Files, &w.Stored, &w.Waiting, &w.Spool)
		w.Beat, w.Silent = time.UnixMicro(beat).UTC(), time.Duration(now-beat)*time.Microsecond
		return w, err
	})
}
