package mirror

import (
	"context"
	"io"
	"iter"

	"github.com/anyurl/fetch/internal/archive"
)

// A Finding is something wrong in an archive, or only strange: then it is a
// Note.
type Finding struct {
	Path string `json:"path"` // from the archive's folder
	Text string `json:"text"`
	Note bool   `json:"note,omitempty"`
}

// ErrIncomplete says that an archive has URLs that are still to be visited.
var ErrIncomplete = archive.ErrIncomplete

// Verify accounts for every byte of the archive at dir: each file of the tree
// is the object that was retrieved, each record of the WARC files is whole and
// what its digests say, index and manifest are what follows from them, and
// nothing is there that was not retrieved. The error ends the sequence.
// ErrIncomplete comes last, where something is still to be visited.
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

// Browse copies the tree of the archive at dir to the folder to, in which pages
// and style sheets lead to each other's copies, and to the network for what the
// archive does not hold. The archive itself is not changed.
func Browse(ctx context.Context, dir, to string) error { return archive.Browse(ctx, dir, to) }

// Reindex writes the index of the archive at dir anew, from its WARC files
// alone.
func Reindex(ctx context.Context, dir string) error { return archive.Reindex(ctx, dir) }

// Manifest writes the digests of the tree and of the WARC files of the archive
// at dir, as they lie there, for sha256sum -c.
func Manifest(w io.Writer, dir string) error { return archive.Manifest(w, dir) }

// WhileIdle calls f while no run, and nothing else that changes it, works on the
// archive at dir. It is fetch.InUse if something does. A folder whose lock
// cannot be opened, such as one on a medium that is read only, is idle.
func WhileIdle(dir string, f func() error) error { return archive.Idle(dir, f) }
