// Package archive reads and writes the files of an archive, the folder in which
// a crawl stores the objects that it retrieves. It fixes the order of all
// writes and restores a consistent state after a crash. It sends no requests.
//
// [Open] opens an archive for a run and discards data that an earlier run did
// not commit. [Archive.Frontier] returns the database, which contains the URLs
// and the captures. The caller writes each body to a [Spool] and adds a batch
// of visits with [Archive.Commit]. [Archive.Derive] writes the index, the
// manifest and the mailboxes from the database and the WARC files.
//
// [Verify], [Browse], [Reindex] and [Manifest] process an archive without a
// run.
package archive
