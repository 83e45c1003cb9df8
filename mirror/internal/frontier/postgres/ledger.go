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

// A FileState tells whether a WARC file is complete, and whether it is in the
// store.
type FileState int16

const (
	Written  FileState = iota // a worker appends records to the file
	Finished                  // the file is complete, but may not be in the store yet
	Stored                    // the store has confirmed the file
)

// A File describes a WARC file of a crawl. If State is Written, Size is the
// offset after the last committed record, and SHA256 is zero.
type File struct {
	Name   string
	Worker string
	State  FileState
	Size   int64
	SHA256 [32]byte
}

// ErrOtherBytes means that a file does not have the size or the digest that the
// database contains.
var ErrOtherBytes = errors.New("the file differs from its description in the database")

// A Ledger records which WARC files of a crawl are in the store. It is safe for
// concurrent use. If the worker that uses the Ledger was abandoned, the methods
// change nothing and return an error that wraps frontier.ErrAbandoned.
type Ledger struct{ e *engine }

// LedgerOf returns the Ledger of a shared frontier.
func LedgerOf(f frontier.Frontier) (*Ledger, error) {
	e, ok := f.(*engine)
	if !ok {
		return nil, errors.New("frontier: only a shared frontier has workers")
	}
	return &Ledger{e}, nil
}

const fileColumns = "id, name, worker, state, coalesce(size, ends, 0), sha256"

func scanFile(rows pgx.Rows) (f File, id int64, err error) {
	var digest []byte
	err = rows.Scan(&id, &f.Name, &f.Worker, (*int16)(&f.State), &f.Size, &digest)
	copy(f.SHA256[:], digest)
	return f, id, err
}

// Finish records the size and the digest of a complete file of this worker,
// before the file is uploaded. If the file is already recorded with other values,
// Finish returns an error.
func (l *Ledger) Finish(ctx context.Context, f *File) error {
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
		case FileState(state) == Written && ends.Int64 != f.Size,
			FileState(state) != Written && (size.Int64 != f.Size || string(digest) != string(f.SHA256[:])):
			return fmt.Errorf("%s: %w", f.Name, ErrOtherBytes)
		case FileState(state) != Written:
			return nil
		}
		return t.exec("update file set state = $2, size = $3, sha256 = $4 where name = $1",
			f.Name, int16(Finished), f.Size, f.SHA256[:])
	})
}

// Store records that a file of this worker is in the store. The file must have
// been passed to Finish.
func (l *Ledger) Store(ctx context.Context, name string) error {
	return l.e.write(ctx, shared, func(t *tx) error {
		tag, err := t.Exec(t.ctx, "update file set state = $3 where name = $1 and worker = $2 and state > $4",
			name, t.e.worker.Name, int16(Stored), int16(Written))
		if err == nil && tag.RowsAffected() == 0 {
			err = fmt.Errorf("%s: the database does not describe this file", name)
		}
		return err
	})
}

// Beat records that this worker is active, although it claims no hosts.
func (l *Ledger) Beat(ctx context.Context) error {
	return l.e.write(ctx, shared, func(t *tx) error {
		return t.exec("update worker set beat = $2 where name = $1", l.e.worker.Name, t.now)
	})
}

// Unstored returns the files of a worker whose state is not Stored.
func (l *Ledger) Unstored(ctx context.Context, worker string) ([]File, error) {
	return l.files(ctx, "worker = $1 and state < 2 and ends is not null order by id", worker)
}

// Find returns the files with the given names.
func (l *Ledger) Find(ctx context.Context, names []string) ([]File, error) {
	return l.files(ctx, "name = any($1) order by id", names)
}

// NewestStored returns the newest file of all workers whose state is Stored. If
// there is none, found is false.
func (l *Ledger) NewestStored(ctx context.Context) (f File, found bool, err error) {
	files, err := l.files(ctx, "state = $1 and ends is not null order by id desc limit 1", Stored)
	if len(files) == 0 || err != nil {
		return File{}, false, err
	}
	return files[0], true, nil
}

func (l *Ledger) files(ctx context.Context, where string, arg any) ([]File, error) {
	return collect(ctx, l.e, "select "+fileColumns+" from file where "+where, []any{arg}, func(rows pgx.Rows) (File, error) {
		f, _, err := scanFile(rows)
		return f, err
	})
}

// All returns the files of all workers in the order in which they were created.
func (l *Ledger) All(ctx context.Context) iter.Seq2[File, error] {
	query := "select " + fileColumns + " from file where ends is not null and id > $1 order by id limit $2"
	return pages(ctx, l.e, query, nil, scanFile)
}

// Count returns the number of files of this worker, including those of its
// earlier incarnations.
func (l *Ledger) Count(ctx context.Context) (n int64, err error) {
	err = l.e.query(ctx, func(ctx context.Context) error {
		return l.e.pool.QueryRow(ctx, "select count(*) from file where worker = $1", l.e.worker.Name).Scan(&n)
	})
	return n, err
}
