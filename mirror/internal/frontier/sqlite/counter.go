package sqlite

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// addCounters adds the results of visits to the host h to the counters of the
// run.
func (t *tx) addCounters(h *host, rs []frontier.Result) error {
	changes, objects := rules.Counters(rs)
	h.Objects += objects
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		err := t.Exec("insert into counter (name, n) values (?1, ?2) on conflict (name) do update set n = n + ?2",
			name, changes[name])
		if err != nil {
			return err
		}
	}
	return nil
}

// errorCounts returns the number of failed results of the run for each class of
// error. It returns nil if no result failed.
func (s *session) errorCounts() (counts map[string]int64, err error) {
	const query = "select name, n from counter where name like 'error %'"
	err = s.ForEachRow(query, nil, func(r *sqlite.Row) error {
		var name string
		var n int64
		err := r.Scan(&name, &n)
		if counts == nil {
			counts = map[string]int64{}
		}
		counts[strings.TrimPrefix(name, rules.ErrorCounter)] = n
		return err
	})
	return counts, err
}

// Counts attributes all results to this worker, because an SQLite database does
// not distinguish workers.
func (e *engine) Counts(ctx context.Context) (own, others frontier.Counts, err error) {
	err = e.read(ctx, func(s *session) error {
		return s.Scan(`select coalesce(sum(n) filter (where name='files'), 0), coalesce(sum(n) filter (where name='bytes'), 0)
			from counter`, nil, &own.Files, &own.Bytes)
	})
	return own, others, err
}
