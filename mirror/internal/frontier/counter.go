package frontier

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/base/sqlite"
)

// Names of the counters of a run. The counter of each error class has a name
// with the prefix ErrorCounter.
const (
	FilesCounter = "files"
	BytesCounter = "bytes"
	ErrorCounter = "error "
)

// Counters returns the amounts that the results add to the counters of a run,
// by counter name, and the sum of Result.Objects.
func Counters(rs []Result) (changes map[string]int64, objects int64) {
	changes = map[string]int64{}
	for i := range rs {
		r := &rs[i]
		objects += r.Objects
		if r.Counts.Files != 0 {
			changes[FilesCounter] += r.Counts.Files
		}
		if r.Counts.Bytes != 0 {
			changes[BytesCounter] += r.Counts.Bytes
		}
		if r.Error != "" {
			changes[ErrorCounter+r.Error]++
		}
	}
	return changes, objects
}

// addCounters adds the results of visits to the host h to the counters of the
// run.
func (t *tx) addCounters(h *host, rs []Result) error {
	changes, objects := Counters(rs)
	if objects != 0 {
		h.control.objects += objects
		h.control.changed, h.changed = true, true
	}
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
		counts[strings.TrimPrefix(name, ErrorCounter)] = n
		return err
	})
	return counts, err
}

// Counts attributes all results to this worker, because an SQLite database does
// not distinguish workers.
func (e *engine) Counts(ctx context.Context) (own, others Counts, err error) {
	err = e.read(ctx, func(s *session) error {
		return s.Scan(`select coalesce(sum(n) filter (where name='files'), 0), coalesce(sum(n) filter (where name='bytes'), 0)
			from counter`, nil, &own.Files, &own.Bytes)
	})
	return own, others, err
}
