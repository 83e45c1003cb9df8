package archive

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Limits for the rows that a rebuild writes in one transaction. In an archive of a
// stranger, the texts of a row can have a million bytes.
const (
	rebuildBatch = 256     // rows
	rebuildBytes = 4 << 20 // bytes of their texts
)

// A rowBatch collects rows for one transaction.
type rowBatch[T any] struct {
	rows  []T
	bytes int
}

// add adds a row whose texts have the given total size. It reports whether the
// batch is complete.
func (b *rowBatch[T]) add(row T, bytes int) (complete bool) {
	b.rows, b.bytes = append(b.rows, row), b.bytes+bytes
	return len(b.rows) >= rebuildBatch || b.bytes >= rebuildBytes
}

// clear removes the rows.
func (b *rowBatch[T]) clear() {
	clear(b.rows)
	b.rows, b.bytes = b.rows[:0], 0
}

// addVisits adds the visits in the journal to the database.
func (r *rebuild) addVisits(ctx context.Context) error {
	var batch rowBatch[sqlite.LoggedVisit]
	for line, err := range storedLines(r.a.folder.root) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r.result.Lines++
		l, err := r.decode(line)
		if err != nil {
			r.result.DamagedLines++
			continue
		}
		r.noteRun(l)
		if l.Item.URL == "" {
			continue
		}
		size := len(line)
		for _, n := range l.Names {
			size += len(n.Fold)
		}
		if batch.add(l.LoggedVisit, size) {
			if err := r.builder.AddVisits(ctx, batch.rows); err != nil {
				return err
			}
			batch.clear()
		}
	}
	return r.builder.AddVisits(ctx, batch.rows)
}

// maxRuns is the maximum run number in a line of the journal. The next run adds
// one to this number.
const maxRuns = 1 << 40

// maxLoggedPath is the maximum length of a path in a line of the journal, in bytes.
// The paths of a tree have at most 900 bytes and a suffix. All folders of a path
// are reserved, so that their total size grows with the square of its length.
const maxLoggedPath = 1 << 10

var errDamagedLine = errors.New("the line is damaged")

// decode decodes a line of the journal and checks its values, because the
// archive may come from an untrusted source.
func (r *rebuild) decode(line []byte) (l LogLine, err error) {
	if line == nil {
		return l, errDamagedLine
	}
	if l, err = r.o.Decode(line); err != nil || l.Item.URL == "" {
		return l, err
	}
	u, err := uri.Parse(l.Item.URL)
	if err != nil || Canonical(u) != l.Item.URL || l.Run < 1 || l.Run > maxRuns {
		return l, errDamagedLine
	}
	c := l.Capture
	if c == nil {
		return l, nil
	}
	if c.Path != "" {
		if !fs.ValidPath(c.Path) || c.Path == "." || len(c.Path) > maxLoggedPath {
			return l, errDamagedLine
		}
		l.Names = tree.Claims(l.Item.Key, c.Path)
	}
	if c.File != "" && (!warc.IsFileName(c.File) || strings.ContainsAny(c.File, `/\`)) || c.Size < 0 || c.Offset < 0 {
		return l, errDamagedLine
	}
	return l, nil
}

// Limits for the seeds that a rebuild collects. A note does not store longer lists.
const (
	maxSeeds     = 10_000
	maxSeedBytes = 1 << 20
)

// noteRun collects the properties of the newest run from a line of the journal.
func (r *rebuild) noteRun(l LogLine) {
	if l.Run > r.run {
		r.run, r.started = l.Run, l.Time
	}
	if !l.Seed {
		return
	}
	if l.Run > r.seedRun {
		r.seedRun, r.seeds, r.seedBytes = l.Run, nil, 0
	}
	if l.Run == r.seedRun && len(r.seeds) < maxSeeds && r.seedBytes <= maxSeedBytes {
		r.seeds = append(r.seeds, l.Item.URL)
		r.seedBytes += len(l.Item.URL)
	}
}
