package archive

import (
	"context"
	"errors"
	"io/fs"
	"runtime"

	"github.com/anyurl/fetch/internal/base/parallel"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A checkedFile is a file that the tree must contain.
type checkedFile struct {
	key     frontier.Key // of its URL
	state   frontier.State
	capture *frontier.Capture
	problem string // description of the damage, or "" if there is none
}

// maxGroup is the maximum number of files that checkFiles verifies at the same
// time.
const maxGroup = 256

// checkFiles verifies the file of each object in the tree on all processors. It
// calls use for each file, in the order of the database.
func (a *Archive) checkFiles(ctx context.Context, use func(checkedFile) error) error {
	var group []checkedFile
	size := 0
	check := func() error {
		parallel.Do(runtime.GOMAXPROCS(0), len(group), func(i int) { group[i].problem = a.problemOf(group[i]) })
		for _, f := range group {
			if err := use(f); err != nil {
				return err
			}
		}
		clear(group)
		group, size = group[:0], 0
		return nil
	}
	err := a.eachRetrieved(ctx, func(it frontier.Item, s frontier.State) error {
		if it.LastCapture.Path == "" {
			return nil
		}
		group = append(group, checkedFile{key: it.Key, state: s, capture: it.LastCapture})
		if size += it.LastCapture.TextSize(); len(group) == maxGroup || size >= rebuildBytes {
			return check()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return check()
}

const missing = "missing"

// problemOf verifies the size and the digest of a file. A file may be missing if
// its URL is gone.
func (a *Archive) problemOf(c checkedFile) string {
	f, err := a.store.Open(c.capture.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.state == frontier.Gone:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return err.Error()
	}
	defer f.Close()
	switch _, digest, err := hashObject(f); {
	case err != nil:
		return err.Error()
	case digest != c.capture.Digest:
		return mismatch + "the database"
	}
	return ""
}
