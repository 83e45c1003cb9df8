package mirror

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// CopyOptions contains the settings of CopyFrontier.
type CopyOptions struct {
	Frontier Frontier // database without a crawl
	Worker   string   // name of the worker; "" means the host name

	// Store is the store to which the workers upload their WARC files, as in
	// Options.Store, or nil. The first worker uploads the WARC files of the
	// archive.
	Store Store
}

// Copied contains the results of CopyFrontier.
type Copied struct {
	Stats
	Worker  string `json:"worker"`  // name of the worker that owns the directory
	Files   int    `json:"files"`   // WARC files of the worker
	Renamed string `json:"renamed"` // new name of fetch.db

	// Unstored is true if the settings of the crawl were not copied, because the
	// archive has no options.json. Each worker must then be started with the
	// URLs and settings of the crawl.
	Unstored bool `json:"unstored,omitempty"`

	// Dropped lists the settings of the archive that a shared crawl does not
	// support: its limits for one run, "delete" and "mailboxes".
	Dropped []string `json:"dropped,omitempty"`
}

// CopyFrontier copies the crawl of the archive in the directory dir to a shared
// frontier, so that several workers can continue it. The archive must
// have WARC files and no tree, and no run may use it. The crawl may be
// incomplete: its pending URLs remain pending.
//
// The directory becomes the directory of a worker. The WARC files stay there, and
// the file fetch.db is renamed. CopyFrontier either copies the complete crawl or
// nothing. If it was killed, another call completes the copy.
func CopyFrontier(ctx context.Context, dir string, o CopyOptions) (c Copied, err error) {
	c.Worker = o.Worker
	if c.Worker == "" {
		if c.Worker, err = os.Hostname(); err != nil {
			return c, archive.Classify(err)
		}
	}
	stored, err := storedOptions(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Unstored = true
	case err != nil:
		return c, err
	}
	if o.Store != nil {
		if _, err := openStore(ctx, o.Store, storeTime, slog.New(slog.DiscardHandler)); err != nil {
			return c, err
		}
	}
	c.Dropped, stored.Store = stored.share(), o.Store
	pause := cmp.Or(stored.Delay, publicDelay)
	done, err := archive.CopyFrontier(ctx, dir, archive.CopyOptions{
		Frontier: o.Frontier, Worker: c.Worker, Pause: max(pause, 0), Now: time.Now,
		Note: func(newest frontier.Stats) ([]byte, error) {
			var n runNote
			if err := json.Unmarshal(newest.Note, &n); err != nil {
				return nil, err
			}
			if !c.Unstored {
				n.Settings = sharedSettings(&stored)
			}
			return n.encode()
		},
	})
	c.Stats, c.Files, c.Renamed = statsOf(done.Stats), done.Files, done.Renamed
	return c, err
}

// share resets the settings that a shared crawl does not support, and returns
// the names of those that were set. A limit for one run would end the run of
// each worker immediately.
func (o *Options) share() (dropped []string) {
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"max-files", o.Limits.Files != 0}, {"max-bytes", o.Limits.Bytes != 0}, {"run-time", o.Limits.Time != 0},
		{"delete", o.Delete}, {"mailboxes", o.Mail != NoMailboxes},
	} {
		if setting.set {
			dropped = append(dropped, setting.name)
		}
	}
	o.Limits.Files, o.Limits.Bytes, o.Limits.Time = 0, 0, 0
	o.Tree, o.Delete, o.Mail = false, false, NoMailboxes
	return dropped
}
