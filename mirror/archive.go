package mirror

import (
	"context"
	"io"
	"iter"

	"github.com/anyurl/fetch/internal/archive"
)

// A Finding is a problem that Verify found in an archive. If Note is true, the
// archive is correct and the finding is only unusual.
type Finding struct {
	Path string `json:"path"` // relative to the folder of the archive
	Text string `json:"text"`
	Note bool   `json:"note,omitempty"`
}

// ErrIncomplete means that an archive has pending URLs.
var ErrIncomplete = archive.ErrIncomplete

// Verify checks every file of the archive at dir. Each file of the tree must be
// the object that was retrieved. Each record of the WARC files must be complete
// and match its digests. The index and the manifest must match both, and no
// other file may exist.
//
// A non-nil error ends the sequence. It is ErrIncomplete, after all findings,
// if the archive has pending URLs.
func Verify(ctx context.Context, dir string) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		err := archive.Verify(ctx, dir, func(path, text string, note bool) bool {
			return yield(Finding{path, text, note}, nil)
		})
		if err != nil {
			yield(Finding{}, err)
		}
	}
}

// Browse copies the tree of the archive at dir to the folder to. Links in the
// copied pages and style sheets are rewritten: a link to an archived object
// leads to its copy, and any other link leads to the network. Browse does not
// change the archive.
func Browse(ctx context.Context, dir, to string) error { return archive.Browse(ctx, dir, to) }

// Reindex rewrites the index of the archive at dir from its WARC files.
func Reindex(ctx context.Context, dir string) error { return archive.Reindex(ctx, dir) }

// Manifest writes the digests of the files in the tree and of the WARC files of
// the archive at dir, in the format of sha256sum -c. It reads the files on
// disk.
func Manifest(w io.Writer, dir string) error { return archive.Manifest(w, dir) }

// WhileIdle calls f while it holds the lock of the archive at dir, so that no
// run can change the archive. If another process holds the lock, the error is
// fetch.InUse. If the lock file cannot be opened, for example on a read-only
// medium, WhileIdle calls f without it.
func WhileIdle(dir string, f func() error) error { return archive.WhileIdle(dir, f) }
