package archive

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
)

// Sweep moves what the server has no more from the tree to the attic, and
// returns how many files it moved. It moves none if these are more than a share
// of maxShare of the tree, or if a listing could not be read.
func (a *Archive) Sweep(ctx context.Context, maxShare float64) (moved int64, err error) {
	if !a.options.Tree {
		return 0, nil
	}
	var gone []string
	total, lost := 0, 0
	err = a.retrieved(ctx, func(it frontier.Item, s frontier.State) error {
		switch {
		case (s == frontier.Dead || s == frontier.Pending) && it.LastCapture.Kind == fetch.Menu.String():
			lost++
		case it.LastCapture.Path == "":
		case s == frontier.Gone:
			if _, err := a.store.Stat(it.LastCapture.Path); err == nil {
				gone = append(gone, it.LastCapture.Path)
				total++
			}
		default:
			total++
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case len(gone) == 0:
		return 0, nil
	case lost > 0:
		return 0, fetch.Denied.Errorf("nothing is deleted: %d listings could not be read", lost)
	case float64(len(gone)) > maxShare*float64(total):
		return 0, fetch.Denied.Errorf("nothing is deleted: %d of %d files are gone, more than a share of %g", len(gone), total, maxShare)
	}
	run := "run-" + a.started.UTC().Format("20060102T150405Z")
	for _, path := range gone {
		if err := a.store.Attic(path, run); err != nil {
			return moved, err
		}
		moved++
	}
	return moved, a.store.SyncFolders()
}
