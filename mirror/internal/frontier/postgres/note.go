package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// ChangeNote replaces the note of the newest run of f by the result of change. It
// can call change several times. If there is no run, the error is
// frontier.ErrNoRun.
func ChangeNote(ctx context.Context, f frontier.Frontier, change func(note []byte) ([]byte, error)) error {
	e, ok := f.(*engine)
	if !ok {
		return errNotShared
	}
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

// ChangedNote returns the note of the newest run of f and its version. If this
// version equals the parameter version, it does not read the note, and changed
// is false. The version "" means that no note is known.
func ChangedNote(ctx context.Context, f frontier.Frontier, version string) (note []byte, now string, changed bool, err error) {
	e, ok := f.(*engine)
	if !ok {
		return nil, "", false, errNotShared
	}
	// The column xmin is the number of the transaction that has written the row.
	const query = "select xmin::text, case when xmin::text <> $1 then note end from run order by id desc limit 1"
	err = e.query(ctx, func(ctx context.Context) error { return e.pool.QueryRow(ctx, query, version).Scan(&now, &note) })
	return note, now, now != version, err
}
