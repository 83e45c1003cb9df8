package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A ledger is the frontier.Ledger of an engine.
type ledger struct{ e *engine }

func (e *engine) Ledger() frontier.Ledger { return &ledger{e} }

const fileColumns = "id, name, worker, state, coalesce(size, ends, 0), sha256"

func scanFile(scan func(...any) error) (f frontier.WARCFile, id int64, err error) {
	var digest []byte
	err = scan(&id, &f.Name, &f.Worker, (*int16)(&f.State), &f.Size, &digest)
	copy(f.SHA256[:], digest)
	return f, id, err
}

func (l *ledger) Finish(ctx context.Context, f *frontier.WARCFile) error {
	return l.e.write(ctx, shared, func(t *tx) error {
		var state int16
		var ends, size pgtype.Int8
		var digest []byte
		err := t.QueryRow(t.ctx, "select state, ends, size, sha256 from file where name = $1 and worker = $2 for update",
			f.Name, t.e.worker.Name).Scan(&state, &ends, &size, &digest)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("%s: the database has no records of this file", f.Name)
		case err != nil:
			return err
		case frontier.FileState(state) == frontier.FileWritten && ends.Int64 != f.Size,
			frontier.FileState(state) != frontier.FileWritten && (size.Int64 != f.Size || string(digest) != string(f.SHA256[:])):
			return fmt.Errorf("%s: %w", f.Name, frontier.ErrOtherBytes)
		case frontier.FileState(state) != frontier.FileWritten:
			return nil
		}
		return t.exec("update file set state = $2, size = $3, sha256 = $4 where name = $1",
			f.Name, int16(frontier.FileFinished), f.Size, f.SHA256[:])
	})
}

func (l *ledger) Store(ctx context.Context, name string) error {
	return l.e.write(ctx, shared, func(t *tx) error {
		tag, err := t.Exec(t.ctx, "update file set state = $3 where name = $1 and worker = $2 and state > $4",
			name, t.e.worker.Name, int16(frontier.FileStored), int16(frontier.FileWritten))
		if err == nil && tag.RowsAffected() == 0 {
			err = fmt.Errorf("%s: the database does not describe this file", name)
		}
		return err
	})
}

func (l *ledger) Beat(ctx context.Context) error {
	return l.e.write(ctx, shared, func(t *tx) error {
		return t.exec("update worker set beat = $2 where name = $1", l.e.worker.Name, t.Now)
	})
}

func (l *ledger) Unstored(ctx context.Context, worker string) ([]frontier.WARCFile, error) {
	return l.files(ctx, "worker = $1 and state < 2 and ends is not null order by id", worker)
}

func (l *ledger) Find(ctx context.Context, names []string) ([]frontier.WARCFile, error) {
	return l.files(ctx, "name = any($1) order by id", names)
}

func (l *ledger) NewestStored(ctx context.Context) (f frontier.WARCFile, found bool, err error) {
	files, err := l.files(ctx, "state = $1 and ends is not null order by id desc limit 1", frontier.FileStored)
	if len(files) == 0 || err != nil {
		return frontier.WARCFile{}, false, err
	}
	return files[0], true, nil
}

func (l *ledger) files(ctx context.Context, where string, arg any) ([]frontier.WARCFile, error) {
	return collect(ctx, l.e, "select "+fileColumns+" from file where "+where, []any{arg}, func(rows pgx.CollectableRow) (frontier.WARCFile, error) {
		f, _, err := scanFile(rows.Scan)
		return f, err
	})
}

func (l *ledger) All(ctx context.Context) iter.Seq2[frontier.WARCFile, error] {
	query := "select " + fileColumns + " from file where ends is not null and id > $1 order by id limit $2"
	return pages(ctx, l.e, query, nil, scanFile)
}

func (l *ledger) Count(ctx context.Context) (n int64, err error) {
	return value[int64](ctx, l.e, "select count(*) from file where worker = $1", l.e.worker.Name)
}
