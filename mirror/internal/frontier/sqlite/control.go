package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Control(ctx context.Context, name string, change func(*frontier.HostControl)) (excluded int64, err error) {
	return transact(ctx, e, func(t *tx) (excluded int64, err error) {
		h, err := t.findHost("where name=?", name)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("%s: %w", name, frontier.ErrUnknownHost)
		}
		if err != nil {
			return 0, err
		}
		if h.ChangeControl(change) {
			excluded, err = t.excludePending(h)
		}
		return excluded, err
	})
}

// excludePending changes the state of the pending URLs of the host to Excluded
// and returns their number.
func (t *tx) excludePending(h *host) (n int64, err error) {
	err = t.Exec("update url set state=?1, run=?2, wait=null, note=?3 where host=?4 and state=0",
		int(frontier.Excluded), t.Run, frontier.NoteExcludedHost, h.ID)
	if err != nil {
		return 0, err
	}
	n = int64(t.Changes())
	h.Pending -= n
	t.Exclude(n)
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
	var h rules.Host
	err := scan(&h.Name, &h.Held, &h.Delay, &h.CrawlDelay, &h.Excluded)
	return h.Control(), err
}
