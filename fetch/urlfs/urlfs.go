// Package urlfs presents the listings of a [fetch.Client] as an io/fs.FS. Every
// scheme with listings is supported, such as ftp, sftp, nfs, file, the directory
// pages of web servers, and their copies in an archive:
//
//	fsys := urlfs.New(ctx, client, "ftp://example.org/pub/")
//	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error { ... })
//
// # Listings as directories
//
// An entry of a listing is a directory if it is a listing itself, and if its URL
// is below the URL of the listing. Other listings, such as a link of a gopher
// menu to another server, are left out, because a walk would never end. Lines
// without an object, sessions and search forms are left out as well. Documents
// may be anywhere.
//
// The name of a file is the name in the listing. Characters that a name cannot
// contain are percent-encoded. If several entries have the same name, a number is
// appended, such as "~2".
//
// A symbolic link to a file is a file. A symbolic link to a directory, or one
// whose target the listing does not describe, has the type [fs.ModeSymlink], so
// that [fs.WalkDir] does not follow it. Open follows it.
package urlfs

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// An FS is a directory and all directories below it. It implements
// [fs.ReadDirFS], [fs.StatFS] and [fs.ReadFileFS], and is safe for concurrent
// use.
//
// An FS requests each listing once and keeps it in memory, so that it does not
// see later changes. It requests a file at the first Read. If a listing does not
// state the size of a file, Stat and DirEntry.Info send a request. All listings
// together have at most 128 MiB, which is about 400,000 entries. A further listing
// is an error with the Fault TooLarge, unless Release frees memory.
type FS struct {
	ctx    context.Context
	client *fetch.Client
	root   *node
	err    error        // the URL is invalid
	held   atomic.Int64 // approximate memory of all listings, in bytes
	mu     sync.Mutex   // guards the fields used of all nodes
}

// maxHeld limits the memory of all listings in bytes. A server could send a listing
// without an end.
const maxHeld = 128 << 20

// These are approximate sizes in memory of an entry, without its texts.
const (
	nodeMemory  = 90  // with its fs.DirEntry
	wholeMemory = 400 // more for an entry that is not encoded
)

// New returns the file system of the listing at a URL that the user entered, as
// for [fetch.Client.Get]. New sends no request. If the URL is invalid, is missing
// on the server or names no listing, all methods of the FS return an error. As
// with [os.DirFS], [fs.WalkDir] passes this error to its function first.
//
// All requests of the FS use ctx, because the methods of fs.FS have no context.
// The caller closes the Client after the last use of the FS.
func New(ctx context.Context, client *fetch.Client, url string) *FS {
	f := &FS{ctx: ctx, client: client}
	u, err := fetch.ParseURL(url)
	f.root, f.err = newRoot(f, &fetch.Request{URL: u}), err
	return f
}

// NewRequest is like [New], but requests the listing with req, which can have
// credentials and header fields. The FS does not change req.
func NewRequest(ctx context.Context, client *fetch.Client, req *fetch.Request) *FS {
	f := &FS{ctx: ctx, client: client}
	f.root = newRoot(f, req)
	return f
}

// An Entrier is a [fs.DirEntry] of an FS. Its method returns the entry of the
// listing without a request. Its field Size is -1 if the size is unknown.
type Entrier interface {
	fs.DirEntry
	Entry() fetch.Entry
}

// Release removes the listing of a directory from memory. A later use of the
// directory requests the listing again. A walk of a large tree calls Release
// after each directory.
func (f *FS) Release(name string) {
	if n, err := f.find(name); err == nil {
		n.release()
	}
}

// Open opens a file or a directory. A file is requested at its first Read, which
// can return the error of the request.
//
// Open returns an error that wraps [fs.ErrNotExist] if a listing does not contain
// the name. All errors of requests have a Fault. Besides, the Fault NotFound
// matches [fs.ErrNotExist], and the Faults Auth and Denied match
// [fs.ErrPermission].
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find(name)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if n.mode.IsDir() {
		all, err := n.children()
		if err != nil {
			return nil, pathError("open", name, err)
		}
		return &directory{node: n, path: name, rest: all}, nil
	}
	return newFile(n, name), nil
}

// ReadDir returns the entries of a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := f.find(name)
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	all, err := n.children()
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	return entriesOf(all), nil
}

// Stat returns the properties of a file or a directory. It follows symbolic
// links. Sys returns the [fetch.Entry] of the listing. If the size of a file is
// unknown, Size returns 0. Stat of "." requests the listing of the root.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	n, err := f.find(name)
	if err == nil && n == f.root {
		_, err = n.children() // no listing describes the root, but it may be missing
	}
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	i, err := n.Info()
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return i, nil
}

// ReadFile returns the content of a file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	n, err := f.find(name)
	if err != nil {
		return nil, pathError("read", name, err)
	}
	return newFile(n, name).readAll()
}

// find returns the node with the given path, after following symbolic links.
func (f *FS) find(name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	if f.err != nil {
		return nil, f.err
	}
	n := f.root
	if name == "." {
		return n, nil
	}
	for element := range strings.SplitSeq(name, "/") {
		all, err := n.children()
		if err != nil {
			return nil, err
		}
		next := lookup(all, element)
		if next == nil {
			return nil, fs.ErrNotExist
		}
		if n, err = next.follow(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: classify(err)}
}

// classify returns err as an error that also matches the errors of package fs.
func classify(err error) error {
	if _, ok := errors.AsType[*fetch.Error](err); ok {
		return requestError{err}
	}
	return err
}

// A requestError is the error of a request.
type requestError struct{ error }

func (e requestError) Unwrap() error { return e.error }

func (e requestError) Is(target error) bool {
	switch fetch.FaultOf(e.error) {
	case fetch.NotFound:
		return target == fs.ErrNotExist
	case fetch.Auth, fetch.Denied:
		return target == fs.ErrPermission
	}
	return false
}
