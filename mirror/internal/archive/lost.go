package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// ErrLost means that more records are missing than Options.MaxLost allows.
var ErrLost = fetch.Local.Errorf("too many WARC records are missing")

// A Loss describes missing WARC records. Their captures no longer count as
// archived.
type Loss struct {
	File    string // name of the WARC file
	Records int    // number of missing records of captures
}

// Losses returns the records that Open found missing.
func (a *Archive) Losses() []Loss { return a.losses }

// settleLosses finds WARC files that are missing or too short, and marks their
// missing records as lost in the database. The map sizes has these files and
// their sizes. If the share of missing records exceeds Options.MaxLost,
// settleLosses changes nothing and returns ErrLost.
func (a *Archive) settleLosses(ctx context.Context, sizes map[string]int64, err error) error {
	if err != nil || len(sizes) == 0 {
		return err
	}
	total, err := a.frontier.RecordCount(ctx)
	if err != nil {
		return err
	}
	var lost int64
	for name, size := range sizes {
		for s, err := range a.frontier.RecordsIn(ctx, name) {
			if err != nil {
				return err
			}
			if s.Offset+s.Length > size {
				lost++
			}
		}
	}
	if float64(lost) > a.options.MaxLost*float64(total) {
		return fmt.Errorf("%w: %d of %d, but the maximum is %g%%; a disk may not be mounted",
			ErrLost, lost, total, 100*a.options.MaxLost)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		size := sizes[name]
		n, err := a.forget(ctx, name, size, func(s *frontier.Stored) bool { return s.Offset+s.Length > size })
		if err != nil {
			return err
		}
		a.losses = append(a.losses, Loss{name, n})
	}
	return nil
}

// shortFiles returns the WARC files that have fewer bytes than were committed,
// and their sizes. The size of a missing file is zero. The size of an unfinished
// file is the end of its last complete record.
func (a *Archive) shortFiles(ctx context.Context) (map[string]int64, error) {
	ends, err := a.frontier.FileEnds(ctx)
	if err != nil {
		return nil, err
	}
	short := map[string]int64{}
	for name, end := range ends {
		f, err := a.openWARC(name)
		if errors.Is(err, os.ErrNotExist) {
			short[name] = 0
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && info.Size() < end {
			short[name] = info.Size()
			if strings.HasSuffix(f.Name(), warc.OpenSuffix) {
				short[name] = completeSize(f)
			}
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return short, nil
}

// completeSize returns the size of the intact part of a WARC file: the offset
// after the last record before the first damage.
func completeSize(r io.Reader) (end int64) {
	in := warc.NewReader(r)
	for {
		h, err := in.Next()
		if err != nil {
			return end
		}
		length, err := in.Finish()
		if err != nil {
			return end
		}
		end = h.Offset + length
	}
}

// forget marks a record of a WARC file as lost if isLost returns true for it.
// The new size of the file is size. If size is zero, the file becomes retired.
// forget returns the number of lost records in the file.
func (a *Archive) forget(
	ctx context.Context, name string, size int64, isLost func(*frontier.Stored) bool,
) (int, error) {
	from, to := "", name
	if size == 0 {
		from, to = name, ""
	}
	return a.relocate(ctx, name, from, to, size, func(s *frontier.Stored) (frontier.Move, bool) {
		return frontier.Move{Lost: true}, isLost(s)
	})
}

// relocate changes the places of the records of the WARC file name in the
// database. The function move returns the new place of a record, and false if
// the place stays the same. The parameters from, to and size have the same
// meaning as in frontier.Relocate. relocate also marks the revisit records that
// refer to lost records, and returns the number of lost records in the file.
func (a *Archive) relocate(
	ctx context.Context, name, from, to string, size int64, move func(*frontier.Stored) (frontier.Move, bool),
) (lost int, err error) {
	var moves []frontier.Move
	ids := map[string][32]byte{}
	for s, err := range a.frontier.RecordsIn(ctx, name) {
		if err != nil {
			return 0, err
		}
		m, changed := move(&s)
		if !changed {
			continue
		}
		m.Row = s.Row
		if moves = append(moves, m); m.Lost {
			ids[s.ID] = s.Digest
			lost++
		}
	}
	if err = a.frontier.Relocate(ctx, from, to, size, moves); err == nil {
		err = a.forgetRevisits(ctx, ids)
	}
	return lost, err
}

// forgetRevisits marks revisit records as lost if they refer to lost records.
// The keys of lost are record IDs, and the values are the digests of the
// objects.
func (a *Archive) forgetRevisits(ctx context.Context, lost map[string][32]byte) error {
	var moves []frontier.Move
	for id, digest := range lost {
		for s, err := range a.frontier.RecordsOf(ctx, digest) {
			if err != nil {
				return err
			}
			if a.mayReferTo(&s.Capture, id) {
				moves = append(moves, frontier.Move{Row: s.Row, Lost: true})
			}
		}
	}
	if len(moves) == 0 {
		return nil
	}
	return a.frontier.Relocate(ctx, "", "", 0, moves)
}

// mayReferTo reports whether the record of c is a revisit record that refers to
// the record with the given ID. It does not read records of other workers and
// records in the store, and then returns true for any revisit record.
func (a *Archive) mayReferTo(c *frontier.Capture, id string) bool {
	if a.isRemote(c.File) {
		return c.Checksum == 0 // a revisit record has no checksum
	}
	h := a.recordHeader(c)
	return h != nil && h.Type() == warc.Revisit && refersTo(h, id)
}

// moveRetired moves a WARC file to the attic if it contains no record of a
// capture any more, and removes it from the database. It does nothing in a
// shared crawl, where the file is not in the directory and its name must never
// be used again.
func (a *Archive) moveRetired(ctx context.Context) error {
	if a.options.Shared != nil {
		return nil
	}
	names, err := a.frontier.Retired(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if path.Base(name) != name {
			continue // the database is forged
		}
		for _, file := range warcPaths(name) {
			if _, err := a.folder.root.Lstat(file); err != nil {
				continue
			}
			if err := a.store.MoveAside(file, a.atticName("heal")); err != nil {
				return err
			}
		}
		if err := errors.Join(a.store.SyncFolders(), a.frontier.DropFile(ctx, name)); err != nil {
			return err
		}
	}
	return nil
}

// atticName returns the name of a directory in the attic, such as
// "heal-20260102T150405Z".
func (a *Archive) atticName(kind string) string {
	return kind + "-" + a.started.UTC().Format("20060102T150405Z")
}
