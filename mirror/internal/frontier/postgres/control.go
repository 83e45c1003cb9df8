package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Control(ctx context.Context, name string, change func(*frontier.HostControl)) (excluded int64, err error) {
	id, err := transact(ctx, e, shared, func(t *tx) (exclude int64, err error) {
		h, err := t.startWith(fullLock, "where name = $1", name)
		if err == nil && h == nil {
			err = fmt.Errorf("%s: %w", name, frontier.ErrUnknownHost)
		}
		if err != nil {
			return 0, err
		}
		if h.ChangeControl(change) {
			exclude = h.ID
		}
		return exclude, nil
	})
	for more := id != 0; more && err == nil; {
		var n int64
		n, err = e.excludePending(ctx, id)
		excluded, more = excluded+n, n > 0
	}
	return excluded, err
}

// excludedRows is the maximum number of URLs that one call of excludePending
// excludes.
const excludedRows = 5000

// excludePending excludes some of the pending URLs of a host and returns their
// number. One long transaction is not necessary, because a worker that claims
// one of the remaining URLs also excludes it.
func (e *engine) excludePending(ctx context.Context, host int64) (n int64, err error) {
	return transact(ctx, e, shared, func(t *tx) (n int64, err error) {
		if _, err := t.startWith(fullLock, "where id = $1", host); err != nil {
			return 0, err
		}
		tag, err := t.Exec(t.ctx, `update url set state = $2, run = $3, wait = null, note = $4 where id in
			(select id from url where host = $1 and state = 0 order by key limit $5 for update)`,
			host, int16(frontier.Excluded), t.Run, []byte(frontier.NoteExcludedHost), excludedRows)
		t.Exclude(tag.RowsAffected())
		return tag.RowsAffected(), err
	})
}

func (e *engine) Controls(ctx context.Context, hosts []string) (map[string]frontier.HostControl, error) {
	const query = `select name, held, delay, crawl, excluded from host where (held is not null or delay <> 0 or crawl <> 0 or excluded)
		and ($1::text[] is null or name = any($1))`
	return collectMap(ctx, e, query, []any{hosts}, func(rows pgx.CollectableRow) (string, frontier.HostControl, error) {
		var h rules.Host
		err := rows.Scan(&h.Name, &h.Held, &h.Delay, &h.CrawlDelay, &h.Excluded)
		return h.Name, h.Control(), err
	})
}
