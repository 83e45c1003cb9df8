package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// queueLines queues a statement that stores the lines of rs for the log of
// visits of this worker.
func (t *tx) queueLines(b *pgx.Batch, rs []frontier.Result) {
	var lines [][]byte
	for i := range rs {
		if rs[i].Line != nil {
			lines = append(lines, rs[i].Line)
		}
	}
	if len(lines) > 0 {
		b.Queue("insert into unlogged (worker, line) select $1, line from unnest($2::bytea[]) with ordinality l (line, n) order by n",
			t.e.worker.Name, lines)
	}
}

func (e *engine) Unlogged(ctx context.Context) iter.Seq2[[]byte, error] {
	query := "select id, line from unlogged where id > $1 and worker = $3 order by id limit $2"
	return pages(ctx, e, query, []any{e.worker.Name}, rules.ScanLine)
}

func (e *engine) Logged(ctx context.Context) error {
	return e.write(ctx, shared, func(t *tx) error { return t.exec("delete from unlogged where worker = $1", e.worker.Name) })
}
