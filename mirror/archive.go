package mirror

import (
	"context"
	"io"
	"iter"

	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A Finding describes a problem that [Crawl.Verify] found.
type Finding struct {
	Path    string `json:"path"` // path of the file relative to the directory of the archive
	Text    string `json:"text"`
	Note    bool   `json:"note,omitempty"`    // if true, the archive is correct but has an unusual property
	Derived bool   `json:"derived,omitempty"` // if true, Reindex writes the file again
}

// ErrIncomplete means that an archive still has pending URLs. Its Fault is
// fetch.TooLarge.
var ErrIncomplete = archive.ErrIncomplete

// ErrLost means that more WARC records are missing than Options.MaxLost allows. Its
// Fault is fetch.Local.
var ErrLost = archive.ErrLost

// ErrFilesLost means that committed WARC records of a worker are neither in its
// directory nor in the store. ErrObjectsLost means that the store lacks an object
// that the crawl has uploaded. ErrOtherFolder means that the name of a worker
// belongs to another directory. After Abandon, a new directory can use the name.
// The Fault of these errors is fetch.Local.
var (
	ErrFilesLost   = archive.ErrFilesLost
	ErrObjectsLost = archive.ErrObjectsLost
	ErrOtherFolder = frontier.ErrOtherFolder
)

// ErrComplete means that the last run of a crawl with a shared frontier is
// complete, and that Options.Again is false. Run also returns it if other workers
// complete the run while this worker joins it. Its Fault is fetch.Local.
var ErrComplete = frontier.ErrEnded

// Verify checks all files of the archive. The database must match the digest of its
// rows. The files in tree/ must match the digests of the retrieved objects. The
// records in the WARC files must be complete and match
// their digests. All other files must match the manifest, and the manifest must
// match its digest in the database. After a run that was killed, some of these
// digests are missing. Verify then returns a note. A file that is not in the
// manifest or the database is also a note.
//
// For a crawl with a shared frontier, Verify checks the WARC files in
// Location.Store. It reads every stored file, and compares its size, its digest
// and its records with the database. Files that wait for their upload, and
// objects in the store that the database does not record, are reported as notes.
// The field Finding.Path is the name of a file.
//
// A non-nil error ends the sequence. If the crawl has pending URLs, the last
// error is ErrIncomplete, after all findings.
func (c *Crawl) Verify(ctx context.Context) iter.Seq2[Finding, error] {
	if c.place.Frontier != nil {
		return c.verifyStored(ctx)
	}
	return func(yield func(Finding, error) bool) {
		err := archive.Verify(ctx, c.place.Dir, func(f archive.Finding) bool { return yield(Finding(f), nil) })
		if err != nil {
			yield(Finding{}, err)
		}
	}
}

// Browse copies the tree of the archive in the directory o.Dir to the directory
// target, for reading in a web browser. In the copied pages and style sheets, it
// rewrites links to archived objects as links to their copies. All other links
// lead to the network. Files with the content coding gzip, br or zstd are
// decoded, except files that are compressed themselves.
//
// Menus, directories, newsgroups, articles and texts get pages, with the
// appearance of package gateway. The file index.html lists the seeds, also those
// of other archives whose copies are in target. A file gets its name only when it
// is complete. Browse does not change the archive.
//
// Pass the Options of the last run. Browse uses only Dir, Client and Scope, which
// decide whether two URLs are the same object.
func Browse(ctx context.Context, o Options, target string) error {
	seeds, err := Open(Location{Dir: o.Dir}).Seeds(ctx)
	if err != nil {
		return err
	}
	return archive.Browse(ctx, o.Dir, target, archive.Browsing{
		Rules: o.Scope.identityRules(o.Client.Scheme), Scheme: o.Client.Scheme, Seeds: seeds, Origin: foundBy, Target: targetOf,
	})
}

// Reindex rewrites the index and the manifest of the archive in the directory
// dir.
func Reindex(ctx context.Context, dir string) error { return archive.Reindex(ctx, dir) }

// Manifest computes the digests of all files of the archive in the directory dir
// except the database, the lock, temporary files and the manifest. It writes
// them to w in the format of sha256sum -c.
func Manifest(w io.Writer, dir string) error { return archive.Manifest(w, dir) }

// WhileIdle locks the archive in the directory dir and calls f, so that no run
// can change the archive in the meantime. If another process holds the lock,
// the error is fetch.InUse. If the lock file cannot be opened, for example on a
// read-only medium, WhileIdle calls f without the lock.
func WhileIdle(dir string, f func() error) error { return archive.WhileIdle(dir, f) }
