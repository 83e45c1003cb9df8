package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) ChangeNote(ctx context.Context, change func(note []byte) ([]byte, error)) error {
	return e.write(ctx, shared, func(t *tx) error {
		var note []byte
		err := t.QueryRow(t.ctx, "select note from run where id = $1 for update", t.run).Scan(&note)
		if errors.Is(err, pgx.ErrNoRows) {
			return frontier.ErrNoRun
		}
		if err == nil {
			note, err = change(note)
		}
		if err != nil {
			return err
		}
		return t.exec("update run set note = $2 where id = $1", t.run, note)
	})
}

func (e *engine) ChangedNote(ctx context.Context, version string) (note []byte, now string, changed bool, err error) {
	// The column xmin is the number of the transaction that has written the row.
	const query = "select xmin::text, case when xmin::text <> $1 then note end from run order by id desc limit 1"
	err = e.query(ctx, func(ctx context.Context) error { return e.pool.QueryRow(ctx, query, version).Scan(&now, &note) })
	return note, now, now != version, err
}
