package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// control contains the settings of a host, as stored in the table host.
type control struct {
	held         pgtype.Int8
	delay, crawl int64
	excluded     bool
}

// controlColumns lists the columns that a control reads. The alias of the table
// host is t.
const controlColumns = "t.held, t.delay, t.crawl, t.excluded"

func (c *control) fields() []any { return []any{&c.held, &c.delay, &c.crawl, &c.excluded} }

// export returns the settings of the host with the given name.
func (c *control) export(name string) frontier.HostControl {
	return frontier.HostControl{
		Host: name, Paused: c.held.Valid, Excluded: c.excluded,
		Delay: time.Duration(c.delay) * time.Microsecond, CrawlDelay: time.Duration(c.crawl) * time.Microsecond,
	}
}

func (e *engine) Control(ctx context.Context, name string, change func(*frontier.HostControl)) (excluded int64, err error) {
	var id int64
	var starts bool // if true, this call excludes the host
	err = e.write(ctx, shared, func(t *tx) error {
		var c control
		err := t.QueryRow(t.ctx, "select id, "+controlColumns+" from host t where name = $1 for update", name).
			Scan(append([]any{&id}, c.fields()...)...)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%s: %w", name, frontier.ErrUnknownHost)
		}
		if err != nil {
			return err
		}
		want := c.export(name)
		change(&want)
		starts = want.Excluded && !c.excluded
		var b pgx.Batch
		switch {
		case want.Paused && !c.held.Valid:
			b.Queue("update host set held = next, next = $2 where id = $1", id, int64(pausedTime))
		case !want.Paused && c.held.Valid:
			b.Queue("update host set next = held, held = null where id = $1", id)
		}
		b.Queue("update host set delay = $2, crawl = $3, excluded = $4 where id = $1",
			id, want.Delay.Microseconds(), want.CrawlDelay.Microseconds(), want.Excluded)
		b.Queue("update host h set due = case when until + greatest(delay, crawl, $3::bigint) > $1 then greatest(next, until + greatest(delay, crawl, $3::bigint)) else "+
			computeDue+" end where id = $2", t.now, id, t.pause())
		return t.send(&b)
	})
	for err == nil && starts {
		var n int64
		if n, err = e.excludePending(ctx, id); err == nil && n == 0 {
			break
		}
		excluded += n
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
	err = e.write(ctx, shared, func(t *tx) error {
		if err := t.exec("select from host where id = $1 for update", host); err != nil {
			return err
		}
		tag, err := t.Exec(t.ctx, `update url set state = $2, run = $3, wait = null, note = $4 where id in
			(select id from url where host = $1 and state = 0 order by key limit $5 for update)`,
			host, int16(frontier.Excluded), t.run, []byte(frontier.NoteExcludedHost), excludedRows)
		n = tag.RowsAffected()
		t.tally.states[frontier.Pending] -= n
		t.tally.states[frontier.Excluded] += n
		return err
	})
	return n, err
}

func (e *engine) Controls(ctx context.Context, hosts []string) (map[string]frontier.HostControl, error) {
	const query = "select t.name, " + controlColumns + ` from host t where (held is not null or delay <> 0 or crawl <> 0 or excluded)
		and ($1::text[] is null or name = any($1))`
	return collectMap(ctx, e, query, []any{hosts}, func(rows pgx.Rows) (string, frontier.HostControl, error) {
		var name string
		var c control
		err := rows.Scan(append([]any{&name}, c.fields()...)...)
		return name, c.export(name), err
	})
}
