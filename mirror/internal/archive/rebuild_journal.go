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

// rebuildBatch is the number of rows that a rebuild writes in one transaction.
const rebuildBatch = 256

// addVisits adds the visits in the journal to the database.
func (r *rebuild) addVisits(ctx context.Context) error {
	var batch []sqlite.LoggedVisit
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
		if batch = append(batch, l.LoggedVisit); len(batch) == rebuildBatch {
			if err := r.builder.AddVisits(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return r.builder.AddVisits(ctx, batch)
}

// maxRuns is the maximum run number in a line of the journal. The next run adds
// one to this number.
const maxRuns = 1 << 40

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
		if !fs.ValidPath(c.Path) || c.Path == "." {
			return l, errDamagedLine
		}
		l.Names = tree.Claims(l.Item.Key, c.Path)
	}
	if c.File != "" && (!warc.IsFileName(c.File) || strings.ContainsAny(c.File, `/\`)) || c.Size < 0 || c.Offset < 0 {
		return l, errDamagedLine
	}
	return l, nil
}

// maxSeeds is the maximum number of seeds that a rebuild collects.
const maxSeeds = 10_000

// noteRun collects the properties of the newest run from a line of the journal.
func (r *rebuild) noteRun(l LogLine) {
	if l.Run > r.run {
		r.run, r.started = l.Run, l.Time
	}
	if !l.Seed {
		return
	}
	if l.Run > r.seedRun {
		r.seedRun, r.seeds = l.Run, nil
	}
	if l.Run == r.seedRun && len(r.seeds) < maxSeeds {
		r.seeds = append(r.seeds, l.Item.URL)
	}
}
