package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// export returns the settings of the host with the given name.
func (c *control) export(name string) frontier.HostControl {
	return frontier.HostControl{
		Host: name, Paused: c.held.Valid, Excluded: c.excluded,
		Delay: time.Duration(c.delay) * time.Microsecond, CrawlDelay: time.Duration(c.crawl) * time.Microsecond,
	}
}

func (e *engine) Control(ctx context.Context, name string, change func(*frontier.HostControl)) (excluded int64, err error) {
	err = e.write(ctx, func(t *tx) error {
		h, err := t.readHost("where name=?", name)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%s: %w", name, frontier.ErrUnknownHost)
		}
		if err != nil {
			return err
		}
		want := h.control.export(name)
		change(&want)
		h.pause(want.Paused)
		c := &h.control
		c.delay, c.crawl = want.Delay.Microseconds(), want.CrawlDelay.Microseconds()
		if want.Excluded && !c.excluded {
			if excluded, err = t.excludePending(h); err != nil {
				return err
			}
		}
		c.excluded, c.changed, h.changed = want.Excluded, true, true
		if h.leased() {
			h.setLease(h.until.Int64)
		} else {
			h.stale = true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return excluded, nil
}

// pause starts or ends the pause of the host.
func (h *host) pause(paused bool) {
	switch held := &h.control.held; {
	case paused && !held.Valid:
		*held = sql.NullInt64{Int64: h.next, Valid: true}
		h.next = pausedTime
	case !paused && held.Valid:
		h.next, *held = held.Int64, sql.NullInt64{}
	}
}

// excludePending changes the state of the pending URLs of the host to Excluded
// and returns their number.
func (t *tx) excludePending(h *host) (n int64, err error) {
	err = t.Exec("update url set state=?1, run=?2, wait=null, note=?3 where host=?4 and state=0",
		int(frontier.Excluded), t.run, frontier.NoteExcludedHost, h.id)
	if err != nil {
		return 0, err
	}
	n = int64(t.Changes())
	h.pending -= n
	t.states[frontier.Pending] -= n
	t.states[frontier.Excluded] += n
	return n, nil
}

func (e *engine) Controls(ctx context.Context, hosts []string) (map[string]frontier.HostControl, error) {
	const query = `select name, held, delay, crawl, excluded from control join host on host.id = control.host
		where (held is not null or delay <> 0 or crawl <> 0 or excluded <> 0)`
	if hosts == nil {
		all := map[string]frontier.HostControl{}
		err := e.read(ctx, func(s *session) error {
			return s.ForEachRow(query, nil, func(r *sqlite.Row) error {
				c, err := scanControl(r.Scan)
				all[c.Host] = c
				return err
			})
		})
		return all, err
	}
	return lookupAll(ctx, e, hosts, func(s *session, name string) (frontier.HostControl, error) {
		return scanControl(func(to ...any) error { return s.Scan(query+" and name=?", []any{name}, to...) })
	})
}

func scanControl(scan func(...any) error) (frontier.HostControl, error) {
	var name string
	var c control
	err := scan(&name, &c.held, &c.delay, &c.crawl, &c.excluded)
	return c.export(name), err
}
