// Package treecmd implements the commands that read trees of directories over
// every scheme with listings: find, du and diff.
package treecmd

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/urlfs"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// A Tree is a directory at a URL, with everything below it.
type Tree struct {
	FS  *urlfs.FS
	URL uri.URI

	failed func(error) // reports a directory that cannot be listed
}

// maxDepth limits the depth of a tree. A deeper tree is probably a loop of
// symbolic links that the server follows.
const maxDepth = 100

// A node is a file or a directory of a tree.
type node struct {
	Path  string // relative path, or "." for the root
	Depth int
	Dir   bool
	Entry fetch.Entry

	dirEntry fs.DirEntry // nil for the root
}

// size returns the size of a file in bytes. It sends a request if the listing
// does not state the exact size.
func (n node) size() (int64, error) {
	if n.Dir || n.dirEntry == nil {
		return 0, nil
	}
	info, err := n.dirEntry.Info()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// A visitor is called for the nodes of a tree. A nil function is skipped.
type visitor struct {
	enter func(node) (descend bool, err error) // a file, or a directory before its content
	leave func(node) error                     // a directory after its content
}

// Walk visits all files and directories in the order of their names. If a
// directory cannot be listed, Walk reports the error and continues. It keeps
// only the listings of the current directory and of those above it in memory.
func (t *Tree) walk(v visitor) error {
	root := node{Path: ".", Dir: true, Entry: fetch.Entry{URL: t.URL, Kind: fetch.Menu, Size: -1}}
	if _, err := t.FS.ReadDir("."); err != nil {
		return err
	}
	return t.visit(root, v)
}

func (t *Tree) visit(n node, v visitor) error {
	descend, err := true, error(nil)
	if v.enter != nil {
		descend, err = v.enter(n)
	}
	if err != nil || !n.Dir {
		return err
	}
	if descend {
		if err := t.visitChildren(n, v); err != nil {
			return err
		}
	}
	if v.leave != nil {
		return v.leave(n)
	}
	return nil
}

func (t *Tree) visitChildren(n node, v visitor) error {
	if n.Depth == maxDepth {
		t.failed(fetch.Loop.Errorf("%s: the directory is more than %d levels deep", n.Entry.URL, maxDepth))
		return nil
	}
	all, err := t.FS.ReadDir(n.Path)
	if err != nil {
		t.failed(err)
		return nil
	}
	defer t.FS.Release(n.Path)
	for _, d := range all {
		if err := t.visit(childOf(n, d), v); err != nil {
			return err
		}
	}
	return nil
}

// childOf returns the node of a directory entry of n. A symbolic link to a
// directory counts as a file, so that a walk does not follow it.
func childOf(n node, d fs.DirEntry) node {
	child := node{Path: path.Join(n.Path, d.Name()), Depth: n.Depth + 1, Dir: d.IsDir(), dirEntry: d}
	if e, ok := d.(urlfs.Entrier); ok {
		child.Entry = e.Entry()
	}
	return child
}

// clients opens the Client of a command and the trees of its arguments.
type clients struct {
	*console.Streams
	flags clientflags.Flags
	tally console.Tally
	open  *clientflags.OpenClient
}

// start opens the Client. The caller must close it.
func (c *clients) start(ctx context.Context) error {
	all, err := c.flags.Schemes()
	if err != nil {
		return err
	}
	c.open, err = c.flags.Open(ctx, c.Streams, clientflags.Spec{Schemes: all, RedirectLogin: true, Transcript: c.Verbose,
		Standard: wrap.Options{Retry: c.flags.RetryOptions(nil), Rate: int64(c.flags.Limits.Rate)}})
	return err
}

// tree returns the tree at a URL, or in a local folder.
func (c *clients) tree(ctx context.Context, text string) (*Tree, error) {
	u, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	t := &Tree{URL: u, failed: func(err error) { c.tally.Add(c.Report(ctx, err, console.ErrorSource{})) }}
	t.FS, err = c.listed(ctx, u)
	if fetch.FaultOf(err) == fetch.Unsupported && !strings.HasSuffix(u.Path(), "/") { // a web page without the final slash of a directory
		if slash, failed := u.WithPath(u.Path() + "/"); failed == nil {
			if fsys, failed := c.listed(ctx, slash); failed == nil {
				t.URL, t.FS, err = slash, fsys, nil
			}
		}
	}
	return t, err
}

// listed returns the file system at u, after it has listed the directory.
func (c *clients) listed(ctx context.Context, u uri.URI) (*urlfs.FS, error) {
	req := &fetch.Request{URL: u, Trace: c.Trace()}
	req.Auth = c.open.Logins.Credential(req)
	var err error
	if req.Header, err = c.flags.HTTP.Fields(); err != nil {
		return nil, err
	}
	fsys := urlfs.NewRequest(ctx, c.open.Client, req)
	_, err = fsys.ReadDir(".")
	return fsys, err
}

// parse returns the URL of an argument. The name of an existing folder is the
// folder.
func (c *clients) parse(text string) (uri.URI, error) {
	quiet := false
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		quiet = true
		full, err := filepath.Abs(text)
		if err != nil {
			return uri.URI{}, fetch.Local.With(err)
		}
		text = strings.TrimSuffix(filepath.ToSlash(full), "/") + "/"
	}
	return arguments.ParseURL(c.Streams, arguments.Argument{Text: text, Typed: true, Quiet: quiet}, c.flags.Policy.ProtoDefault)
}
