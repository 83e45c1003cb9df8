// Package tree gives every URL a path of its own, legal on every file system,
// and keeps the files of an archive there.
//
// [Path] says where a URL would lie if it were alone; a [Namer] sees to it that
// no two lie in one place, whatever the file system thinks of case and of
// Unicode. A [Store] holds the files: Create, write, Sync a batch, Commit each,
// SyncFolders. A batch that is synced outlives its process: Left finds it.
//
// In the folder of an archive a Store keeps
//
//	tree/SCHEME/HOST[+PORT]/...   the files, as Path has them
//	attic/RUN/SCHEME/...          those that a run no longer found
//	tmp/*.part                    those that are on their way
//	tmp/.*.part, tmp/.*.state     large ones that the next process goes on with
//
// The rules of Path have versions. An archive records its [Layout] and keeps it.
//
// Paths have slashes and begin below the folder of the tree. No symbolic link
// in it is followed, and none is made.
package tree
