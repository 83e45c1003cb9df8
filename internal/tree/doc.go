// Package tree maps every URL to a file path that is valid on every file
// system, and stores the files of an archive at these paths.
//
// [Path] returns the preferred path of a URL. A [Namer] makes sure that no two
// URLs share a path, on file systems with any rules for case and Unicode. A
// [Store] writes the files. The caller creates and writes files, calls Sync for
// a batch, Publish for each file, and SyncFolders. A batch is durable after
// Sync. If the process is killed, Unpublished returns the files of the batch.
//
// A Store keeps these folders in an archive:
//
//	tree/SCHEME/HOST[+PORT]/...   files at their paths
//	attic/RUN/SCHEME/...          files that were deleted on the server
//	tmp/*.part                    files that are not in the tree yet
//	tmp/.*.part, tmp/.*.state     partial bodies for a later process to resume
//
// The rules of Path have versions. An archive records its [Layout] and never
// changes it.
//
// Paths have slashes and are relative to the folder of the tree. A Store
// neither follows nor creates symbolic links in the tree.
package tree
