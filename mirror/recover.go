package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// ErrIntact means that Recover found a database without damage and changed
// nothing. Its Fault is fetch.Usage.
var ErrIntact = archive.ErrIntact

// NeedsRecovery reports whether err means that the database of an archive is
// missing or damaged, so that Recover can rebuild it.
func NeedsRecovery(err error) bool {
	return errors.Is(err, archive.ErrNoDatabase) || errors.Is(err, frontier.ErrDamaged)
}

// RecoverOptions contains the settings of Recover.
type RecoverOptions struct {
	// Client determines the scheme of each URL. Recover sends no requests.
	Client *fetch.Client

	// If Force is true, Recover replaces a database that is not damaged.
	Force bool
}

// Recovered contains the results of Recover.
type Recovered struct {
	URLs           int64  `json:"urls"`               // URLs in the new database
	Captures       int64  `json:"captures"`           // objects in the new database
	Pending        int64  `json:"pending"`            // URLs that were found but not retrieved
	Lines          int64  `json:"lines"`              // lines of crawl.jsonl
	DamagedLines   int64  `json:"damaged_lines"`      // lines of crawl.jsonl that could not be read
	Unlogged       int64  `json:"unlogged"`           // objects that were found only in WARC files
	LostRecords    int64  `json:"lost_records"`       // objects in crawl.jsonl whose WARC records are missing or damaged
	DamagedRecords int64  `json:"damaged_records"`    // damaged positions in WARC files
	Replaced       string `json:"replaced,omitempty"` // new name of the old fetch.db, or "" if there was none
}

// Recover rebuilds the database of the archive in the directory dir. It reads
// crawl.jsonl, the WARC files and the files in tree/, and renames an existing
// database. It removes no file and sends no requests. The next Run starts a new
// run, which requests the objects with their validators.
//
// If the database is not damaged and Force is not set, the error is ErrIntact.
// If another process holds the lock of the archive, the error is fetch.InUse.
func Recover(ctx context.Context, dir string, o RecoverOptions) (Recovered, error) {
	rules := new(Scope).identityRules(o.Client.Scheme)
	r, err := archive.Rebuild(ctx, dir, archive.RebuildOptions{
		Force: o.Force, Now: time.Now, Scheme: o.Client.Scheme, Decode: decodeLogLine,
		NewItem: func(u uri.URI, text, via string) (frontier.Item, frontier.State) {
			it := newItem(u, text, rules.KeyOf(text), frontier.Item{}, meta{From: via}.encode())
			if via != "" {
				it.Via = frontier.KeyOf(via)
			}
			if isImmutable(o.Client.Scheme(u.Scheme()), u) {
				return it, frontier.Kept
			}
			return it, frontier.Done
		},
		Note: func(seeds []string) []byte {
			note, err := json.Marshal(runNote{Seeds: seeds})
			if err != nil || len(note) > maxNote {
				return []byte("{}")
			}
			return note
		},
	})
	return Recovered(r), err
}
