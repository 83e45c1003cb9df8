package sqlite

import (
	"context"
	"iter"

	"github.com/anyurl/fetch/internal/base/sqlite"
)

func (e *engine) Unlogged(ctx context.Context) iter.Seq2[[]byte, error] {
	return pages(ctx, e, func(s *session, after int64, add func(*sqlite.Row, []byte, int64) error) error {
		const query = "select id, line from unlogged where id > ?1 order by id limit ?2+0"
		return s.ForEachRow(query, []any{after, pageRows}, func(r *sqlite.Row) error {
			var id int64
			var line []byte
			if err := r.Scan(&id, &line); err != nil {
				return err
			}
			return add(r, line, id)
		})
	})
}

func (e *engine) Logged(ctx context.Context) error {
	return e.write(ctx, func(t *tx) error { return t.Exec("delete from unlogged") })
}
