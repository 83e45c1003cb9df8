package mirror

import (
	"context"
	"time"

	"github.com/anyurl/fetch/mirror/internal/archive"
)

// HealOptions configures Heal. The zero value is ready to use.
type HealOptions struct {
	// MaxLost is the maximum share of missing WARC records. If more are
	// missing, Heal changes nothing and returns ErrLost. 0 means 0.1.
	MaxLost float64

	// If RequeueOnly is true, Heal copies no WARC records and repairs only
	// files in tree/.
	RequeueOnly bool

	// Report is called for each repair, with Note set, and for each file that
	// could not be repaired. It may be nil.
	Report func(Finding)
}

// Heal repairs the archive in the directory dir as far as possible without
// network access. It returns the number of URLs that the next Run retrieves
// again.
//
// Heal copies the intact records of each damaged WARC file to a new file. It
// restores damaged and missing files of tree/ from WARC records. It moves all
// damaged files to attic/, in a directory with the prefix "heal-". Then it writes
// the index and the manifest. It keeps the captures of objects that were deleted
// on the server. If the process is killed, call Heal again.
//
// If the database is damaged, Heal changes nothing. Recover can rebuild the
// database.
func Heal(ctx context.Context, dir string, o HealOptions) (requeued int64, err error) {
	return archive.Heal(ctx, dir, archive.HealOptions{
		Now: time.Now, MaxLost: positiveOr(o.MaxLost, 0.1), RequeueOnly: o.RequeueOnly,
		Report: func(path, text string, repaired bool) {
			if o.Report != nil {
				o.Report(Finding{Path: path, Text: text, Note: repaired})
			}
		},
	})
}
