// Package archive reads and writes archives. An archive is a directory in which
// a crawl stores the objects that it retrieves. The package defines the order
// of all writes, and restores a consistent state after a crash. It sends no
// requests.
//
// [Open] opens an archive for a run and discards data that an earlier run did
// not commit. [Archive.Frontier] returns the database of URLs and captures. The
// caller writes each body to a [Spool], and commits a batch of visits with
// [Archive.Commit]. After the run, [Archive.Derive] writes the index and the
// mailboxes, and [Archive.Seal] writes the manifest.
//
// The functions [Verify], [Browse], [Reindex] and [Manifest] process an archive
// outside of a run.
package archive
