package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// sealedQueries reads all rows of the database except the seal and the table
// unlogged, whose lines have checksums. The order of the rows does not depend on
// the indexes.
var sealedQueries = [...]string{
	"select * from book order by rowid", "select * from layout order by rowid", "select * from run order by rowid",
	"select * from host order by rowid", "select * from url order by rowid", "select * from capture order by rowid",
	"select * from file order by rowid", "select * from name order by fold",
	"select * from control order by rowid", "select * from counter order by name",
	"select type, name, tbl_name, sql from sqlite_schema order by rowid",
}

// digestRows returns a digest of all rows of the database except the seal.
func (s *session) digestRows() ([]byte, error) {
	sum := sha256.New()
	for _, query := range sealedQueries {
		if err := s.hashRows(sum, query); err != nil {
			return nil, err
		}
	}
	return sum.Sum(nil), nil
}

func (s *session) hashRows(sum hash.Hash, query string) error {
	fmt.Fprintln(sum, query)
	var row []byte
	return s.ForEachRow(query, nil, func(r *sqlite.Row) error {
		row = r.AppendColumns(row[:0])
		sum.Write(row)
		return nil
	})
}

// breakSeal removes the digest of the rows before a change.
func (t *tx) breakSeal() error { return t.Exec("update seal set rows=null where rows is not null") }

func (e *engine) Seal(ctx context.Context, manifest func() ([]byte, error)) error {
	wait := inBackground(manifest)
	if e.readers == e.writer { // manifest cannot read the database during the transaction
		digest, err := wait()
		wait = func() ([]byte, error) { return digest, err }
	}
	defer wait() // also if no transaction starts
	return e.write(ctx, func(t *tx) error {
		rows, rowsErr := t.digestRows()
		digest, err := wait()
		if err := errors.Join(rowsErr, err); err != nil {
			return err
		}
		return t.Exec("update seal set rows=?, manifest=?", rows, digest)
	})
}

// inBackground calls f in a goroutine and returns a function that waits for its
// results.
func inBackground(f func() ([]byte, error)) (wait func() ([]byte, error)) {
	var digest []byte
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		digest, err = f()
	}()
	return func() ([]byte, error) {
		<-ended
		return digest, err
	}
}

func (e *engine) Unseal(ctx context.Context) error {
	return e.write(ctx, func(*tx) error { return nil }) // write removes the digest of the rows
}

func (e *engine) ReadSeal(ctx context.Context) (seal frontier.Seal, err error) {
	err = e.read(ctx, func(s *session) error {
		var rows []byte
		err := s.Scan("select rows, manifest from seal", nil, &rows, &seal.Manifest)
		seal.Rows = len(rows) > 0
		if len(seal.Manifest) == 0 {
			seal.Manifest = nil
		}
		return err
	})
	return seal, err
}
