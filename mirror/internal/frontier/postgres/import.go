package postgres

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Import(ctx context.Context, w *frontier.Worker, note []byte, tables []frontier.ExportedTable) error {
	err := e.patient(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
			if err := checkEmpty(ctx, tx); err != nil {
				return err
			}
			for _, table := range tables {
				if err := copyTable(ctx, tx, w, table); err != nil {
					return fmt.Errorf("table %s: %w", table.Name, err)
				}
			}
			return finishImport(ctx, tx, w, note)
		})
	})
	if err == nil {
		w.Incarnation = 1
	}
	return classifyError(err)
}

// checkEmpty locks the crawl and returns an error unless the schema is empty.
// It deletes the initial rows that Import replaces.
func checkEmpty(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, ownCrawl); err != nil {
		return err
	}
	var used bool
	err := tx.QueryRow(ctx, `select run > 0 or exists (select from worker) or exists (select from url) from book`).Scan(&used)
	if err == nil && used {
		err = frontier.ErrOccupied
	}
	if err == nil {
		_, err = tx.Exec(ctx, "delete from book; delete from tally where slot = 0")
	}
	return err
}

// workerColumns lists the tables with a column for the name of the worker.
var workerColumns = []string{"file", "counter"}

// copyTable copies the rows of one table.
func copyTable(ctx context.Context, tx pgx.Tx, w *frontier.Worker, table frontier.ExportedTable) error {
	columns := slices.Clone(table.Columns)
	owned := slices.Contains(workerColumns, table.Name)
	if owned {
		columns = append(columns, "worker")
	}
	flags := make([]bool, len(columns)) // columns of the type boolean
	for i, name := range columns {
		flags[i] = name == "live" || name == "excluded" && table.Name == "host"
	}
	next, stop := iter.Pull2(table.Rows)
	defer stop()
	_, err := tx.CopyFrom(ctx, pgx.Identifier{table.Name}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, err, ok := next()
		if !ok || err != nil {
			return nil, err
		}
		if owned {
			row = append(row, w.Name)
		}
		for i, value := range row {
			if n, ok := value.(int64); ok && flags[i] {
				row[i] = n != 0
			}
		}
		return row, nil
	}))
	return err
}

// finishImport sets the values that the copied tables do not contain, such as
// the due times of the hosts.
func finishImport(ctx context.Context, tx pgx.Tx, w *frontier.Worker, note []byte) error {
	now := (&engine{}).clock()
	for _, sequence := range [][2]string{
		{"'url_id'", "url"}, {"'capture_id'", "capture"},
		{"pg_get_serial_sequence('host', 'id')", "host"}, {"pg_get_serial_sequence('file', 'id')", "file"},
	} {
		_, err := tx.Exec(ctx, "select setval("+sequence[0]+"::regclass, greatest(max(id), 1), max(id) is not null) from "+sequence[1])
		if err != nil {
			return err
		}
	}
	var at int64
	err := tx.QueryRow(ctx, "select "+timeNow, now).Scan(&at)
	for _, change := range []struct {
		query string
		args  []any
	}{
		{"analyze url, host, capture", nil}, // the plan of computeDue needs the statistics
		{"update host set next = greatest(next, $1::bigint) where exists (select from url where host = host.id and state = 0)",
			[]any{at + w.Pause.Microseconds()}},
		{"update host h set due = " + computeDue, []any{at}},
		{"update run set note = $1 where id = (select run from book)", []any{note}},
		{"insert into worker (name, folder, joined, beat) values ($1, $2, $3, $3)", []any{w.Name, w.Folder, at}},
		{"update seal set rows = null", nil},
	} {
		if err == nil {
			_, err = tx.Exec(ctx, change.query, change.args...)
		}
	}
	return err
}

// Registered implements frontier.Database.
func (d Database) Registered(ctx context.Context, w *frontier.Worker) (found bool, err error) {
	e, err := open(ctx, d.url, &frontier.Worker{}, &engine{})
	if err != nil {
		return false, err
	}
	defer e.Close()
	incarnations, err := transact(ctx, e, exclusive, func(t *tx) ([]int64, error) {
		const query = "select incarnation from worker where name = $1 and folder = $2"
		found := queueRows(&t.queued, pgx.RowTo[int64], query, w.Name, w.Folder)
		err := t.start()
		return *found, err
	})
	if len(incarnations) == 0 || err != nil {
		return false, err
	}
	w.Incarnation = incarnations[0]
	return true, nil
}
