// Package tree maps every URL to a file path that is valid on every file
// system, and stores the files of an archive at these paths.
//
// [Path] returns the preferred path of a URL. A [Namer] makes sure that no two
// URLs share a path, on file systems with any rules for case and Unicode. A
// [Store] writes the files: Create and write them, Sync a batch, Publish
// each file, and SyncFolders. A synced batch survives its process, and
// Unpublished finds its files.
//
// A Store keeps these folders in an archive:
//
//	tree/SCHEME/HOST[+PORT]/...   files at their paths
//	attic/RUN/SCHEME/...          files that a run did not find any more
//	tmp/*.part                    files that are not in the tree yet
//	tmp/.*.part, tmp/.*.state     large partial files that a later process resumes
//
// The rules of Path have versions. An archive records its [Layout] and never
// changes it.
//
// Paths have slashes and are relative to the folder of the tree. A Store
// neither follows nor creates symbolic links in the tree.
package tree
