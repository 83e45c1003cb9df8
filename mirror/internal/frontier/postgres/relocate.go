package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) RecordsIn(ctx context.Context, file string) iter.Seq2[frontier.Stored, error] {
	return e.storedWhere(ctx, "c.file = (select id from file where name = $3)", file)
}

func (e *engine) RecordsOf(ctx context.Context, digest [32]byte) iter.Seq2[frontier.Stored, error] {
	return e.storedWhere(ctx, "c.file is not null and c.digest = $3", digest[:])
}

func (e *engine) storedWhere(ctx context.Context, where string, arg any) iter.Seq2[frontier.Stored, error] {
	query := "select " + rules.CaptureColumns + rules.CaptureTables + "where " + where + " and c.id > $1 order by c.id limit $2"
	return pages(ctx, e, query, []any{arg}, rules.ScanStored)
}

func (e *engine) RecordCount(ctx context.Context) (int64, error) {
	return value[int64](ctx, e, "select count(*) from capture where file is not null")
}

func (e *engine) Relocate(ctx context.Context, from, to string, end int64, moves []frontier.Move) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		var b pgx.Batch
		if to != "" {
			b.Queue("insert into file (name, ends, worker) values ($1, $2, $3) on conflict (name) do update set ends = $2",
				to, end, t.e.worker.Name)
		}
		for _, m := range moves {
			if m.Lost {
				b.Queue("update capture set file = null, at = 0, bytes = 0, checksum = null where id = $1", m.Row)
				continue
			}
			b.Queue("update capture set file = (select id from file where name = $2), at = $3, bytes = $4, checksum = null where id = $1",
				m.Row, to, m.Offset, m.Length)
		}
		b.Queue("update file set ends = null where name = $1", from)
		return t.send(&b)
	})
}

func (e *engine) Retired(ctx context.Context) ([]string, error) {
	const query = `select name from file where ends is null and worker = $1
		and not exists (select from capture where capture.file = file.id) order by id`
	return collect(ctx, e, query, []any{e.worker.Name}, pgx.RowTo[string])
}

func (e *engine) DropFile(ctx context.Context, name string) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		return t.exec("delete from file where name = $1 and ends is null", name)
	})
}
