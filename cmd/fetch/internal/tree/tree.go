// Package tree walks directories over every scheme with listings.
package tree

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/urlfs"
	"github.com/anyurl/fetch/uri"
)

// A Tree is a directory at a URL, with everything below it.
type Tree struct {
	FS  *urlfs.FS
	URL uri.URI

	ctx    context.Context // of all requests
	failed func(error)     // reports the error of a file or directory
}

// Open lists the directory that req requests, and returns its tree. If a web page
// is no listing, Open adds the final slash of a directory to its URL. Errors in
// directories below are passed to failed.
func Open(ctx context.Context, client *fetch.Client, req *fetch.Request, failed func(error)) (*Tree, error) {
	fsys := urlfs.NewRequest(ctx, client, req)
	_, err := fsys.ReadDir(".")
	if fetch.FaultOf(err) == fetch.Unsupported && !strings.HasSuffix(req.URL.Path(), "/") {
		next := req.Clone()
		if u, failed := req.URL.WithPath(req.URL.Path() + "/"); failed == nil {
			next.URL = u
			below := urlfs.NewRequest(ctx, client, next)
			if _, failed := below.ReadDir("."); failed == nil {
				req, fsys, err = next, below, nil
			}
		}
	}
	return &Tree{FS: fsys, URL: req.URL, ctx: ctx, failed: failed}, err
}

// MaxDepth limits the depth of a tree. A deeper tree is probably a loop of
// symbolic links that the server follows.
const MaxDepth = 100

// A Node is a file or a directory of a tree.
type Node struct {
	Path  string // relative path, or "." for the root
	Depth int
	Dir   bool
	Entry fetch.Entry

	DirEntry fs.DirEntry // nil for the root
}

// Size returns the size of a file in bytes. It sends a request if the listing
// does not state the exact size.
func (n Node) Size() (int64, error) {
	if n.Dir || n.DirEntry == nil {
		return 0, nil
	}
	info, err := n.DirEntry.Info()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Time returns the modification time of a file. It sends a request if the listing
// does not state the time.
func (n Node) Time() (time.Time, error) {
	if !n.Entry.Time.IsZero() || n.DirEntry == nil {
		return n.Entry.Time, nil
	}
	info, err := n.DirEntry.Info()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// A Visitor is called for the nodes of a tree. A nil function is skipped.
type Visitor struct {
	Enter func(Node) (descend bool, err error) // a file, or a directory before its content
	Leave func(Node) error                     // a directory after its content
}

// Walk visits all files and directories in the order of their names. If a
// directory cannot be listed, Walk reports the error and continues, unless the
// context of the tree has ended. It keeps only the listings of the current
// directory and of those above it in memory.
func (t *Tree) Walk(v Visitor) error {
	root := Node{Path: ".", Dir: true, Entry: fetch.Entry{URL: t.URL, Kind: fetch.Menu, Size: -1}}
	return t.visit(root, v)
}

// Skip reports the error of a file or directory, and returns nil, so that a walk
// continues. After the end of the context, such as by SIGINT, Skip returns the
// error, because the requests for all other files would fail too.
func (t *Tree) Skip(err error) error {
	if t.ctx.Err() != nil {
		return err
	}
	t.failed(err)
	return nil
}

func (t *Tree) visit(n Node, v Visitor) error {
	descend, err := true, error(nil)
	if v.Enter != nil {
		descend, err = v.Enter(n)
	}
	if err != nil || !n.Dir {
		return err
	}
	if descend {
		if err := t.visitChildren(n, v); err != nil {
			return err
		}
	}
	if v.Leave != nil {
		return v.Leave(n)
	}
	return nil
}

func (t *Tree) visitChildren(n Node, v Visitor) error {
	if n.Depth == MaxDepth {
		return t.Skip(fetch.Loop.Errorf("%s: the directory is more than %d levels deep", n.Entry.URL, MaxDepth))
	}
	all, err := t.FS.ReadDir(n.Path)
	if err != nil {
		return t.Skip(err)
	}
	defer t.FS.Release(n.Path)
	for _, d := range all {
		if err := t.visit(Child(n, d), v); err != nil {
			return err
		}
	}
	return nil
}

// Child returns the Node of a directory entry of n. A symbolic link to a
// directory counts as a file, so that a walk does not follow it.
func Child(n Node, d fs.DirEntry) Node {
	child := Node{Path: path.Join(n.Path, d.Name()), Depth: n.Depth + 1, Dir: d.IsDir(), DirEntry: d}
	if e, ok := d.(urlfs.Entrier); ok {
		child.Entry = e.Entry()
	}
	return child
}
