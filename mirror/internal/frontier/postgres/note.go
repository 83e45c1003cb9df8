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
		err := t.QueryRow(t.ctx, "select note from run where id = $1 for update", t.Run).Scan(&note)
		if errors.Is(err, pgx.ErrNoRows) {
			return frontier.ErrNoRun
		}
		if err == nil {
			note, err = change(note)
		}
		if err != nil {
			return err
		}
		return t.exec("update run set note = $2 where id = $1", t.Run, note)
	})
}

func (e *engine) ChangedNote(ctx context.Context, version string) (note []byte, now string, changed bool, err error) {
	// The column xmin is the number of the transaction that has written the row.
	const query = "select xmin::text, case when xmin::text <> $1 then note end from run order by id desc limit 1"
	type versioned struct {
		Version string
		Note    []byte
	}
	found, err := collect(ctx, e, query, []any{version}, pgx.RowToStructByPos[versioned])
	if err == nil && len(found) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return nil, "", false, err
	}
	return found[0].Note, found[0].Version, found[0].Version != version, nil
}
