// Package diskmodel computes which files a disk may contain after a power
// failure.
//
// The input is the list of file calls of a command. A disk certainly contains
// what was synced. Of everything else, any part may be lost. The rules are those
// of ext4 with data=ordered and of XFS:
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
// With Rules.Directories, each directory has a journal of its own, so that a
// sync of a file does not make its name durable. POSIX promises no more than
// this.
package diskmodel

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
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

// An Amount says how much of the unsynced changes a disk has.
type Amount int

// The amounts.
const (
	None Amount = iota
	All
	Some // a random part
)

// Rules select one of the states that a disk may have.
type Rules struct {
	Names       Amount // changes of names and truncations
	Data        Amount // bytes of writes
	Directories bool   // each directory has its own journal
	Seed        uint64 // for Some
}

func (r Rules) String() string {
	of := []string{"no", "all", "some"}
	text := fmt.Sprintf("%s unsynced names, %s unsynced bytes", of[r.Names], of[r.Data])
	if r.Names == Some || r.Data == Some {
		text += fmt.Sprintf(" (seed %d)", r.Seed)
	}
	if r.Directories {
		text += ", a journal for each directory"
	}
	return text
}

// A State is the content of a disk: the contents of files by name. The value of
// a directory is nil, and its name ends with a slash.
type State map[string][]byte

// After returns the state after a power failure before the call i. The number of
// calls is that after the last call.
func (d *Disk) After(i int, r Rules) State {
	w := &writer{d: d, end: i, rules: r, random: rand.New(rand.NewPCG(r.Seed, uint64(i))), entries: map[*node]map[string]*node{}}
	w.chooseNames()
	s := State{}
	w.collect(s, "", d.root)
	return s
}

// A writer computes a state.
type writer struct {
	d       *Disk
	end     int
	rules   Rules
	random  *rand.Rand
	kept    []bool // whether the disk has an op that changes names or truncates
	entries map[*node]map[string]*node
}

// isJournaled reports whether an op is a change of the journal.
func isJournaled(o *op) bool { return len(o.names) > 0 || o.call.Kind == filecalls.Truncate }

// chooseNames chooses the durable changes of the journal.
func (w *writer) chooseNames() {
	ops := w.d.ops[:w.end]
	w.kept = make([]bool, len(ops))
	if w.rules.Directories {
		w.chooseByDirectory(ops)
	} else {
		synced := 0
		for _, o := range ops {
			synced = max(synced, syncedPrefix(ops, &o))
		}
		end := synced
		switch w.rules.Names {
		case All:
			end = len(ops)
		case Some:
			end += w.random.IntN(len(ops) - synced + 1)
		}
		for i := range end {
			w.kept[i] = true
		}
	}
	for i, o := range ops {
		for _, c := range o.names {
			if w.kept[i] {
				c.apply(w.entriesOf(c.dir))
			}
		}
	}
}

// syncedPrefix returns the number of changes of the journal that a sync makes
// durable.
func syncedPrefix(ops []op, s *op) int {
	switch s.call.Kind {
	case filecalls.SyncAll:
		return s.call.Began
	case filecalls.Sync:
		for i := min(s.call.Began, len(ops)); i > 0; i-- {
			if ops[i-1].touches(s.node) {
				return i
			}
		}
	}
	return 0
}

// chooseByDirectory chooses a prefix of the changes of each directory. A rename
// between two directories belongs to both.
func (w *writer) chooseByDirectory(ops []op) {
	synced := map[*node]int{} // number of durable ops
	for i := range ops {
		switch o := &ops[i]; o.call.Kind {
		case filecalls.Sync:
			synced[o.node] = max(synced[o.node], o.call.Began)
		case filecalls.SyncAll:
			for j := range ops[:o.call.Began] {
				for _, c := range ops[j].names {
					synced[c.dir] = o.call.Began
				}
				synced[ops[j].node] = o.call.Began
			}
		}
	}
	stopped := map[*node]bool{}
	for i := range ops {
		o := &ops[i]
		if !isJournaled(o) {
			continue
		}
		places := []*node{o.node}
		if len(o.names) > 0 {
			places = nil
			for _, c := range o.names {
				places = append(places, c.dir)
			}
		}
		keep := w.rules.Names == All || w.rules.Names == Some && w.random.IntN(8) > 0
		for _, p := range places {
			keep = keep && !stopped[p]
		}
		for _, p := range places {
			keep = keep || i < synced[p]
		}
		if w.kept[i] = keep; !keep {
			for _, p := range places {
				stopped[p] = true
			}
		}
	}
}

// entriesOf returns the entries of a directory on the disk.
func (w *writer) entriesOf(dir *node) map[string]*node {
	if w.entries[dir] == nil {
		w.entries[dir] = maps.Clone(dir.first)
	}
	return w.entries[dir]
}

// collect adds the files below a directory to a state.
func (w *writer) collect(s State, prefix string, dir *node) {
	entries := w.entriesOf(dir)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		n, full := entries[name], path.Join(prefix, name)
		switch {
		case n.dir:
			s[full+"/"] = nil
			w.collect(s, full, n)
		case n.target != "":
			s[full+"@"] = []byte(n.target)
		default:
			s[full] = w.bytesOf(n)
		}
	}
}

// bytesOf returns the bytes of a file on the disk.
func (w *writer) bytesOf(n *node) []byte {
	data := slices.Clone(n.data)
	synced := 0 // number of durable ops
	for i := range w.d.ops[:w.end] {
		if o := &w.d.ops[i]; o.syncAll || o.call.Kind == filecalls.Sync && o.node == n {
			synced = max(synced, o.call.Began)
		}
	}
	moments := w.moments(synced)
	for i := range w.d.ops[:w.end] {
		o := &w.d.ops[i]
		switch {
		case o.node != n:
		case o.call.Kind == filecalls.Truncate:
			if !w.kept[i] && i >= synced {
				return data
			}
			data = resize(data, o.call.Offset)
		case o.call.Kind == filecalls.Write:
			for at := 0; at < len(o.call.Data); {
				offset := o.call.Offset + int64(at)
				bytes := o.call.Data[at:min(len(o.call.Data), at+PageSize-int(offset%PageSize))]
				if i < synced || i < moments(offset/PageSize) {
					data = write(data, offset, bytes)
				}
				at += len(bytes)
			}
		}
	}
	return data
}

// moments returns a function that returns, for each page of a file, the number of
// ops before the page was written to the disk for the last time.
func (w *writer) moments(synced int) func(page int64) int {
	switch w.rules.Data {
	case None:
		return func(int64) int { return synced }
	case All:
		return func(int64) int { return w.end }
	}
	random := func() int { return synced + w.random.IntN(w.end-synced+1) }
	if w.random.IntN(2) == 0 { // all pages at the same time
		same := random()
		return func(int64) int { return same }
	}
	pages := map[int64]int{}
	return func(page int64) int {
		if _, ok := pages[page]; !ok {
			pages[page] = random()
		}
		return pages[page]
	}
}

func resize(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

func write(data []byte, at int64, text []byte) []byte {
	if end := at + int64(len(text)); end > int64(len(data)) {
		data = resize(data, end)
	}
	copy(data[at:], text)
	return data
}

// Digest returns a text that is equal for equal states.
func (s State) Digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%q %d\n", name, len(s[name]))
		h.Write(s[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Write creates the files of the state in an empty directory.
func (s State) Write(dir string) error {
	names := slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Compare(a, b) })
	for _, name := range names {
		full := filepath.Join(dir, strings.TrimRight(name, "/@"))
		var err error
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case strings.HasSuffix(name, "@"):
			err = os.Symlink(string(s[name]), full)
		default:
			if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
				err = os.WriteFile(full, s[name], 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
