package mirror

import (
	"context"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/upload"
)

// AbandonOptions configures [Crawl.Abandon].
type AbandonOptions struct {
	Quiet  time.Duration // minimum time since the last activity of the worker
	DryRun bool          // if true, Abandon changes nothing
}

// An Abandoned describes the result of [Crawl.Abandon].
type Abandoned struct {
	Stored  int64 `json:"stored"`  // files in the store that become a part of the crawl
	Files   int64 `json:"files"`   // lost WARC files of the worker
	Records int64 `json:"records"` // captures whose records are in these files
	URLs    int64 `json:"urls"`    // URLs that become pending
	Leases  int64 `json:"leases"`  // leases of the worker that Abandon ends
}

// Abandon excludes a worker from a crawl with a shared frontier, after the
// directory of the worker was lost. If the process of the worker still runs,
// its next commit fails. The files of the worker that are complete in the store
// remain a part of the crawl. Other workers visit the URLs whose records are
// only in its other files. If the run is complete, it becomes active again for
// these URLs. Location.Store is required if the crawl has a store. Abandon returns an error if the worker was active during the last
// AbandonOptions.Quiet.
func (c *Crawl) Abandon(ctx context.Context, worker string, o AbandonOptions) (a Abandoned, err error) {
	err = c.viewShared(ctx, func(f frontier.Shared) error {
		stored, err := storedFiles(ctx, f, worker, c.place.Store)
		if err != nil {
			return err
		}
		found, err := f.Abandon(ctx, worker, frontier.AbandonOptions{Quiet: o.Quiet, Stored: stored, DryRun: o.DryRun})
		a = Abandoned(found)
		return err
	})
	return a, archive.Classify(err)
}

// storedFiles returns the names of WARC files of a worker that are complete in
// the store, but not yet recorded as stored in the database.
func storedFiles(ctx context.Context, f frontier.Shared, worker string, from Store) (names []string, err error) {
	s, err := storeOf(ctx, f, from)
	if s == nil || err != nil {
		return nil, err
	}
	files, err := f.Ledger().Unstored(ctx, worker)
	for i := range files {
		if files[i].State != frontier.FileFinished { // the upload starts after this state
			continue
		}
		found, err := upload.Has(ctx, s, &files[i])
		if err != nil {
			return nil, err
		}
		if found {
			names = append(names, files[i].Name)
		}
	}
	return names, err
}

// storeOf opens the store s, which must be the store that the newest run of the
// crawl recorded. It returns nil if the crawl has no store and s is nil.
func storeOf(ctx context.Context, f frontier.Frontier, s Store) (store.Store, error) {
	stats, err := f.Stats(ctx)
	if err != nil {
		return nil, err
	}
	note, err := parseNote(stats.Note)
	if err == nil && note.Settings != nil && note.Settings.Store != "" {
		switch url := note.Settings.Store; storeURL(s) {
		case "":
			return namedStore(url).Open()
		case url:
		default:
			return nil, fetch.Usage.Errorf("the crawl was started with the store %s", url)
		}
	}
	if s == nil {
		return nil, nil
	}
	return s.Open()
}
