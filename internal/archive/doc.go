// Package archive keeps what a mirror retrieves. It knows the files of an
// archive, the order in which they are written, and how they are brought back
// to a state that is true after a crash. It makes no requests.
//
// [Open] opens an archive for a run and restores what an earlier run left
// behind. [Archive.Frontier] is its database: what is still to visit and what
// was retrieved. The body of an answer goes into a [Spool], and a batch of
// answers becomes part of the archive by [Archive.Commit]. [Archive.Derive]
// writes what follows from the database and the WARC files.
//
// [Verify], [Browse], [Reindex] and [Manifest] serve an archive without a run.
package archive
