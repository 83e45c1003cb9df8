package sqlite

import (
	"context"
	"database/sql"
	"iter"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) RecordsIn(ctx context.Context, file string) iter.Seq2[frontier.Stored, error] {
	return e.storedWhere(ctx, "f.name = ?3", file)
}

func (e *engine) RecordsOf(ctx context.Context, digest [32]byte) iter.Seq2[frontier.Stored, error] {
	return e.storedWhere(ctx, "c.file is not null and c.sum = ?3 and c.digest = ?4", sumOf(digest), digest[:])
}

func (e *engine) storedWhere(ctx context.Context, where string, args ...any) iter.Seq2[frontier.Stored, error] {
	query := "select " + rules.CaptureColumns + rules.CaptureTables + "where " + where + " and +c.id > ?1 order by +c.id limit ?2+0"
	return pages(ctx, e, query, args, rules.ScanStored)
}

func (e *engine) RecordCount(ctx context.Context) (n int64, err error) {
	err = e.read(ctx, func(s *session) error {
		return s.Scan("select count(*) from capture where file is not null", nil, &n)
	})
	return n, err
}

func (e *engine) Relocate(ctx context.Context, from, to string, end int64, moves []frontier.Move) error {
	return e.write(ctx, func(t *tx) error {
		var file sql.NullInt64
		if to != "" {
			id, err := t.file(to)
			if err == nil {
				err = t.Exec("update file set ends=? where id=?", end, id)
			}
			if err != nil {
				return err
			}
			file = sql.NullInt64{Int64: id, Valid: true}
		}
		for _, m := range moves {
			var err error
			if m.Lost {
				err = t.Exec("update capture set file=null, sum=null, at=0, bytes=0, checksum=null where id=?", m.Row)
			} else {
				err = t.Exec("update capture set file=?, at=?, bytes=?, checksum=null where id=?", file, m.Offset, m.Length, m.Row)
			}
			if err != nil {
				return err
			}
		}
		return t.Exec("update file set ends=null where name=?", from)
	})
}

func (e *engine) Retired(ctx context.Context) (names []string, err error) {
	err = e.read(ctx, func(s *session) error {
		const query = `select name from file where ends is null
			and not exists (select 1 from capture where capture.file = file.id)`
		return s.ForEachRow(query, nil, func(r *sqlite.Row) error {
			var name string
			err := r.Scan(&name)
			names = append(names, name)
			return err
		})
	})
	return names, err
}

func (e *engine) DropFile(ctx context.Context, name string) error {
	return e.write(ctx, func(t *tx) error {
		return t.Exec("delete from file where name=? and ends is null", name)
	})
}
