package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/frontier"
)

// An Abandoned describes what Abandon changes.
type Abandoned struct {
	Files   int64 // WARC files of the worker
	Records int64 // captures whose records are in these files
	URLs    int64 // URLs that become pending
	Leases  int64 // leases that end
}

// Abandon excludes a worker whose directory is lost from the crawl. Its later
// calls fail with frontier.ErrAbandoned. The captures in its files count as lost,
// and their URLs become pending if the run is active. A new directory can take
// the name of the worker.
//
// Abandon returns an error if the worker has claimed hosts during the duration
// quiet. With dry, it changes nothing.
func Abandon(ctx context.Context, f frontier.Frontier, worker string, quiet time.Duration, dry bool) (a Abandoned, err error) {
	e, ok := f.(*engine)
	if !ok {
		return a, fmt.Errorf("frontier: only a shared frontier has workers")
	}
	err = e.write(ctx, exclusive, func(t *tx) error {
		a = Abandoned{}
		var beat int64
		switch err := t.QueryRow(t.ctx, "select beat from worker where name = $1 for update", worker).Scan(&beat); {
		case errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("the crawl has no worker %s", worker)
		case err != nil:
			return err
		}
		if silent := time.Duration(t.now-beat) * time.Microsecond; silent < quiet {
			return fmt.Errorf("the worker %s was active %v ago: wait until it is silent for %v",
				worker, silent.Round(time.Second), quiet)
		}
		if err := t.countAbandoned(worker, &a); err != nil || dry {
			return err
		}
		return t.abandon(worker)
	})
	return a, err
}

// lostURLs selects the URLs whose most recent capture is in a file of the worker
// $1.
const lostURLs = `from url u join capture c on c.id = u.last join file f on f.id = c.file
	where f.worker = $1 and u.state in (1, 2)`

func (t *tx) countAbandoned(worker string, a *Abandoned) error {
	var b pgx.Batch
	count := func(query string, n *int64) {
		b.Queue(query, worker).QueryRow(func(r pgx.Row) error { return r.Scan(n) })
	}
	count("select count(*) from file where worker = $1", &a.Files)
	count("select count(*) from capture c join file f on f.id = c.file where f.worker = $1", &a.Records)
	count("select count(*) "+lostURLs, &a.URLs)
	count("select count(*) from host where until is not null and owner = $1", &a.Leases)
	return t.send(&b)
}

// abandon makes the changes of Abandon.
func (t *tx) abandon(worker string) error {
	var rows []*row
	var b pgx.Batch
	b.Queue("select u.id, u.key, u.state, u.run, u.host "+lostURLs+" for update of u", worker).Query(func(found pgx.Rows) error {
		for found.Next() {
			r := new(row)
			var key []byte
			var state int16
			if err := found.Scan(&r.id, &key, &state, &r.run, &r.host); err != nil {
				return err
			}
			r.state = frontier.State(state)
			rows = append(rows, r)
		}
		return found.Err()
	})
	if err := t.send(&b); err != nil {
		return err
	}
	var ids, hosts []int64
	for _, r := range rows {
		t.countMove(r, frontier.Pending)
		ids, hosts = append(ids, r.id), append(hosts, r.host)
	}
	b = pgx.Batch{}
	b.Queue("update worker set incarnation = incarnation + 1, folder = '' where name = $1", worker)
	b.Queue("update url set state = 0, run = $2, attempts = 0, wait = null, note = null where id = any($1)", ids, t.run)
	b.Queue(`update capture set file = null, at = 0, bytes = 0, checksum = null
		where file in (select id from file where worker = $1)`, worker)
	b.Queue("delete from file where worker = $1", worker)
	b.Queue("update host set until = null where until is not null and owner = $1 returning id", worker).Query(func(rows pgx.Rows) error {
		ended, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		hosts = append(hosts, ended...)
		return err
	})
	if err := t.send(&b); err != nil {
		return err
	}
	return t.exec("update host h set due = "+computeDue+" where id = any($2) and not coalesce(until, 0) > $1", t.now, hosts)
}

// A WorkerState describes a worker of a shared crawl.
type WorkerState struct {
	Name   string
	Beat   time.Time // time of the most recent claim
	Leases int64     // hosts that the worker has leased
	Files  int64     // WARC files
}

// Workers returns the workers of a shared crawl, ordered by name.
func Workers(ctx context.Context, f frontier.Frontier) ([]WorkerState, error) {
	e, ok := f.(*engine)
	if !ok {
		return nil, fmt.Errorf("frontier: only a shared frontier has workers")
	}
	const query = `select name, beat, (select count(*) from host where until is not null and owner = w.name),
		(select count(*) from file where worker = w.name) from worker w where folder <> '' order by name`
	return collect(ctx, e, query, nil, func(rows pgx.Rows) (w WorkerState, err error) {
		var beat int64
		err = rows.Scan(&w.Name, &beat, &w.Leases, &w.Files)
		w.Beat = time.UnixMicro(beat).UTC()
		return w, err
	})
}
