// Package diskmodel computes which files a disk may contain after a power
// failure.
//
// The input is the list of file calls of a command. A disk certainly contains all
// synced changes. Any part of the other changes may be lost. The rules describe
// ext4 with data=ordered, and XFS:
//
//   - Changes of names, and truncations, are in a journal. After a power failure,
//     the disk has the changes up to some position of the journal.
//   - A sync of a file or directory makes the journal durable up to the last
//     change of this file or directory. It also makes its bytes durable.
//   - The journal does not contain the bytes of writes. Each page of a file has the
//     bytes of some moment after its last sync. The disk writes the pages in any
//     order, so that a page of zeros can precede written pages. A file can have
//     its name before it has its bytes.
//   - A write after a truncation is not on the disk if the truncation is not.
//
// With Rules.Directories, each directory has its own journal, so that a sync of a
// file does not make its name durable. POSIX promises no more than this.
package diskmodel

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/test/filecalls"
)

// PageSize is the unit of bytes that a disk writes completely or not at all.
const PageSize = 4096

// A node is a file, a directory or a symbolic link.
type node struct {
	dir     bool
	target  string           // target of a symbolic link
	data    []byte           // bytes before the first call
	entries map[string]*node // current entries while calls are read
	first   map[string]*node // entries before the first call
}

func newDir() *node {
	return &node{dir: true, entries: map[string]*node{}, first: map[string]*node{}}
}

// A change sets or removes a name in a directory.
type change struct {
	dir  *node
	name string
	to   *node // nil: the name is removed
}

// An op is a call in terms of nodes.
type op struct {
	call    filecalls.Call
	names   []change // changes of names, which are made together
	node    *node    // file of a write, a truncation or a sync; object of a change
	syncAll bool
}

// touches reports whether the op changes n or its name.
func (o *op) touches(n *node) bool {
	return o.call.Kind != filecalls.Sync && (o.node == n || slices.ContainsFunc(o.names, func(c change) bool { return c.dir == n }))
}

// A Disk is the history of the files below a directory.
type Disk struct {
	root *node
	path string
	ops  []op
}

// Load returns the history of the directory root, which had the files of the
// directory base before the calls.
func Load(base, root string, calls []filecalls.Call) (*Disk, error) {
	d := &Disk{root: newDir(), path: root}
	if err := d.root.read(base); err != nil {
		return nil, err
	}
	inodes := map[uint64]*node{}
	for _, c := range calls {
		o, err := d.load(c, inodes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		d.ops = append(d.ops, o)
	}
	return d, nil
}

// Len returns the number of calls.
func (d *Disk) Len() int { return len(d.ops) }

// Call describes the call before which a power failure at i happens.
func (d *Disk) Call(i int) string {
	if i == len(d.ops) {
		return "the end"
	}
	return strings.ReplaceAll(d.ops[i].call.String(), d.path+"/", "")
}

// read reads the files of a directory.
func (n *node) read(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err != nil {
			return err
		}
		child, name := &node{}, filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			child = newDir()
			err = child.read(name)
		case e.Type() == fs.ModeSymlink:
			child.target, err = os.Readlink(name)
		default:
			child.data, err = os.ReadFile(name)
		}
		n.entries[e.Name()], n.first[e.Name()] = child, child
	}
	return err
}

// lookup returns the directory and the base name of a path.
func (d *Disk) lookup(name string) (dir *node, base string) {
	rel := strings.TrimPrefix(strings.TrimPrefix(name, d.path), "/")
	if rel == name || rel == "" {
		return nil, ""
	}
	dir = d.root
	parts := strings.Split(rel, "/")
	for _, p := range parts[:len(parts)-1] {
		if dir = dir.entries[p]; dir == nil || !dir.dir {
			return nil, ""
		}
	}
	return dir, parts[len(parts)-1]
}

// file returns the file of a call.
func (d *Disk) file(c filecalls.Call, inodes map[uint64]*node) *node {
	if n := inodes[c.Inode]; n != nil && c.Inode != 0 {
		return n
	}
	n := d.root
	if c.Path != d.path {
		dir, base := d.lookup(c.Path)
		if dir == nil {
			return nil
		}
		n = dir.entries[base]
	}
	if n != nil && c.Inode != 0 {
		inodes[c.Inode] = n
	}
	return n
}

// load makes the change of a call and returns it as an op.
func (d *Disk) load(c filecalls.Call, inodes map[uint64]*node) (o op, err error) {
	o.call = c
	dir, base := d.lookup(c.Path)
	toDir, toBase := d.lookup(c.To)
	switch c.Kind {
	case filecalls.Create, filecalls.Mkdir, filecalls.Symlink:
		o.node = &node{target: c.To}
		if c.Kind == filecalls.Mkdir {
			o.node = newDir()
		}
		inodes[c.Inode] = o.node
		if dir != nil {
			o.names = []change{{dir, base, o.node}}
		} else if c.Path != "" {
			err = fs.ErrNotExist
		}
	case filecalls.Unlink:
		if dir == nil || dir.entries[base] == nil {
			return o, fs.ErrNotExist
		}
		o.node = dir.entries[base]
		o.names = []change{{dir, base, nil}}
	case filecalls.Rename, filecalls.Exchange:
		if dir == nil || toDir == nil || dir.entries[base] == nil {
			return o, fs.ErrNotExist
		}
		o.node = dir.entries[base]
		o.names = []change{{dir, base, nil}, {toDir, toBase, o.node}}
		if c.Kind == filecalls.Exchange {
			o.names[0].to = toDir.entries[toBase]
		}
	case filecalls.Link:
		if o.node = d.file(c, inodes); o.node == nil || toDir == nil {
			return o, fs.ErrNotExist
		}
		o.names = []change{{toDir, toBase, o.node}}
	case filecalls.SyncAll:
		o.syncAll = true
	case filecalls.Send: // changes no file
	default:
		if o.node = d.file(c, inodes); o.node == nil {
			err = fs.ErrNotExist
		}
	}
	for _, c := range o.names {
		c.apply(c.dir.entries)
	}
	return o, err
}

func (c change) apply(entries map[string]*node) {
	if c.to == nil {
		delete(entries, c.name)
	} else {
		entries[c.name] = c.to
	}
}
