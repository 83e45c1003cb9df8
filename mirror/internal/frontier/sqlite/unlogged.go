package sqlite

import (
	"context"
	"iter"

	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Unlogged(ctx context.Context) iter.Seq2[[]byte, error] {
	return pages(ctx, e, "select id, line from unlogged where id > ?1 order by id limit ?2+0", nil, rules.ScanLine)
}

func (e *engine) Logged(ctx context.Context) error {
	return e.write(ctx, func(t *tx) error { return t.Exec("delete from unlogged") })
}
