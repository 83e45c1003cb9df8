package archive

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// Sweep moves the files of objects that were deleted on the server from the
// tree to the attic. It returns the number of moved files. Sweep moves no files
// if a listing could not be read, or if the share of deleted files exceeds
// maxShare. In both cases, the error wraps fetch.Denied.
func (a *Archive) Sweep(ctx context.Context, maxShare float64) (moved int64, err error) {
	if !a.options.Tree {
		return 0, nil
	}
	var gone []string
	total, unread := 0, 0
	err = a.eachRetrieved(ctx, func(it frontier.Item, s frontier.State) error {
		switch {
		case (s == frontier.Dead || s == frontier.Pending) && it.LastCapture.Kind == fetch.Menu.String():
			unread++
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
	case unread > 0:
		return 0, fetch.Denied.Errorf("no files were deleted: %d listings could not be read", unread)
	case float64(len(gone)) > maxShare*float64(total):
		return 0, fetch.Denied.Errorf(
			"no files were deleted: %d of %d files are missing on the server, but the maximum is %g%%",
			len(gone), total, 100*maxShare)
	}
	run := a.atticName("run")
	for _, path := range gone {
		if err := a.store.MoveToAttic(path, run); err != nil {
			return moved, err
		}
		moved++
	}
	return moved, a.store.SyncFolders()
}
