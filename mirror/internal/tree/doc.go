// Package tree stores files for URLs. It maps each URL to a file path that is
// valid on every file system.
//
// [Path] returns the preferred path of a URL. A [Namer] assigns each URL a path
// that no other URL has, even on file systems that ignore case or normalize
// Unicode. A [Store] writes the files in batches. The caller creates and writes
// files, calls Sync for a batch, Publish for each file, and SyncFolders. A
// batch is durable after Sync. If the process is then killed, Unpublished
// returns the files of the batch.
//
// A Store uses these directories of an archive:
//
//	tree/SCHEME/HOST[+PORT]/...   files at their paths
//	attic/RUN/SCHEME/...          files that were deleted on the server
//	tmp/*.part                    files that are not in the tree yet
//	tmp/.*.part, tmp/.*.state     partial bodies for a later process to resume
//
// The rules for paths have versions. An archive stores the version of its
// rules, its [Layout], and never changes it.
//
// Paths use slashes and are relative to the directory "tree" of the archive. A
// Store neither follows nor creates symbolic links.
package tree
