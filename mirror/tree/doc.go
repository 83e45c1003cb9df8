// Package tree gives every URL a path of its own, legal on every file system,
// and keeps the files of an archive there.
package tree
