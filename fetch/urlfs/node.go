package urlfs

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A node is a file or a directory. It implements fs.DirEntry.
type node struct {
	in     *listing
	packed string // entry in the listing; "" for the root
	name   string
	mode   fs.FileMode // type of the node
	used   *usedNode   // nil before the first use; guarded by FS.mu
}

// A usedNode is what requests for a node have returned.
type usedNode struct {
	request *fetch.Request // nil means the request of the entry

	mu       sync.Mutex // held during the requests of the following fields
	children []node     // sorted by name
	listed   bool
	held     int64 // approximate memory of children, in bytes
	info     *info
	target   *node // for a symbolic link
}

func (n *node) Name() string      { return n.name }
func (n *node) IsDir() bool       { return n.mode.IsDir() }
func (n *node) Type() fs.FileMode { return n.mode.Type() }
func (n *node) String() string    { return fs.FormatDirEntry(n) }

// Entry implements [Entrier]. It returns the zero Entry for the root.
func (n *node) Entry() fetch.Entry {
	if n.packed == "" {
		return fetch.Entry{}
	}
	return n.in.unpack(n.packed)
}

// newRoot returns the root of f. Its listing contains no entry.
func newRoot(f *FS, req *fetch.Request) *node {
	return &node{in: &listing{fsys: f}, name: ".", mode: fs.ModeDir, used: &usedNode{request: req}}
}

// use returns what requests for the node have returned.
func (n *node) use() *usedNode {
	f := n.in.fsys
	f.mu.Lock()
	defer f.mu.Unlock()
	if n.used == nil {
		n.used = &usedNode{}
	}
	return n.used
}

// isUsed reports whether there was a request for the node.
func (n *node) isUsed() bool {
	f := n.in.fsys
	f.mu.Lock()
	defer f.mu.Unlock()
	return n.used != nil
}

// newRequest returns a request for the node.
func (n *node) newRequest() *fetch.Request {
	if r := n.use().request; r != nil {
		return r.Clone()
	}
	return n.Entry().Request()
}

// children returns the entries of a directory.
func (n *node) children() ([]node, error) {
	if !n.IsDir() {
		return nil, fetch.Usage.Errorf("not a directory: %w", fs.ErrNotExist)
	}
	u := n.use()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.listed {
		return u.children, nil
	}
	f := n.in.fsys
	resp, err := f.client.Do(f.ctx, n.newRequest())
	if err != nil {
		return nil, err
	}
	all, held, err := f.read(resp)
	if err != nil {
		f.held.Add(-held)
		return nil, err
	}
	slices.SortStableFunc(all, compareNames)
	u.children, u.listed, u.held = numberEqual(all), true, held
	return u.children, nil
}

// read reads the entries of a listing. It returns the approximate memory that it
// has added to f.held.
func (f *FS) read(resp *fetch.Response) (all []node, held int64, err error) {
	in := &listing{fsys: f, base: resp.URL.Unredacted()}
	for e, err := range resp.Entries() {
		if err != nil {
			return nil, held, err
		}
		mode, ok := f.modeOf(resp.URL, e)
		if !ok {
			continue
		}
		packed, whole := in.pack(e)
		size := int64(nodeMemory + len(packed))
		name := elementOf(e)
		if !whole && name == strings.TrimSuffix(e.Name, "/") {
			name = nameOf(packed)[:len(name)] // needs no memory of its own
		} else {
			size += int64(len(name))
		}
		if whole {
			size += int64(wholeMemory + len(e.Name) + len(e.Raw) + len(e.URL.Unredacted()))
		}
		held += size
		if f.held.Add(size) > maxHeld {
			return nil, held, fetch.TooLarge.Errorf("the listings need more than %d bytes", maxHeld)
		}
		all = append(all, node{in: in, packed: packed, name: name, mode: mode})
	}
	return slices.Clone(all), held, nil
}

// release removes the listing of a directory, and those of all directories below
// it.
func (n *node) release() {
	if !n.isUsed() {
		return
	}
	u := n.use()
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range u.children {
		u.children[i].release()
	}
	if u.target != nil {
		u.target.release()
	}
	n.in.fsys.held.Add(-u.held)
	u.children, u.listed, u.held = nil, false, 0
}

// modeOf returns the type of an entry of the listing at dir. It returns false if
// the entry is left out.
func (f *FS) modeOf(dir uri.URI, e fetch.Entry) (fs.FileMode, bool) {
	_, link := e.Extra["link"]
	link = link || e.Extra["type"] == "symlink"
	switch {
	case e.URL.IsZero():
		return 0, false
	case e.Kind == fetch.Document:
		return 0, true
	case e.Kind == fetch.Menu && !f.isBelow(dir, e.URL):
		return 0, false
	case link && (e.Kind == fetch.Menu || e.Kind == fetch.Unknown):
		return fs.ModeSymlink, true
	case e.Kind == fetch.Menu:
		return fs.ModeDir, true
	case e.Kind == fetch.Unknown:
		return fs.ModeIrregular, true
	}
	return 0, false
}

// isBelow reports whether u is below the listing at dir.
func (f *FS) isBelow(dir, u uri.URI) bool {
	here, _ := dir.WithoutUserinfo().Authority()
	there, _ := u.WithoutUserinfo().Authority()
	if u.Scheme() != dir.Scheme() || here != there {
		return false
	}
	if place := f.client.Scheme(dir.Scheme()).Mirror.Place; place != nil {
		dir, u = place(dir), place(u)
	}
	rest, ok := strings.CutPrefix(u.Path(), strings.TrimSuffix(dir.Path(), "/")+"/")
	return ok && strings.Trim(rest, "/") != ""
}

// follow returns the target of a symbolic link, with the name of the link. For
// other nodes, it returns n.
func (n *node) follow() (*node, error) {
	if n.mode != fs.ModeSymlink {
		return n, nil
	}
	u := n.use()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.target != nil {
		return u.target, nil
	}
	t := &node{in: n.in, packed: n.packed, name: n.name, used: &usedNode{}}
	kind := n.Entry().Kind
	if kind == fetch.Unknown {
		resp, err := t.stat()
		if err != nil {
			return nil, err
		}
		kind = resp.Kind
		request := t.newRequest()
		request.URL = resp.URL
		t.used.request, t.used.info = request, t.newInfo(resp.Size, resp.Time)
	}
	if kind == fetch.Menu {
		t.mode, t.used.info = fs.ModeDir, nil
	}
	u.target = t
	return t, nil
}

// stat requests the properties of the object.
func (n *node) stat() (*fetch.Response, error) {
	req := n.newRequest()
	req.Op = fetch.Stat
	resp, err := n.in.fsys.client.Do(n.in.fsys.ctx, req)
	if err != nil {
		return nil, err
	}
	return resp, resp.Body.Close()
}

// Info implements fs.DirEntry.
func (n *node) Info() (fs.FileInfo, error) {
	e := n.Entry()
	isFile := n.mode == 0 || n.mode == fs.ModeIrregular
	if !n.isUsed() || !isFile {
		switch {
		case !isFile:
			return n.newInfo(0, e.Time), nil
		case e.Size >= 0:
			return n.newInfo(e.Size, e.Time), nil
		}
	}
	u := n.use()
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.info != nil: // also for the target of a symbolic link, whose entry has the size of the link
	case e.Size >= 0:
		u.info = n.newInfo(e.Size, e.Time)
	default:
		resp, err := n.stat()
		if err != nil {
			return nil, err
		}
		u.info = n.newInfo(resp.Size, resp.Time)
	}
	return u.info, nil
}

func (n *node) newInfo(size int64, modified time.Time) *info {
	if modified.IsZero() {
		modified = n.Entry().Time
	}
	return &info{node: n, size: max(size, 0), time: modified}
}

// info implements fs.FileInfo.
type info struct {
	*node
	size int64
	time time.Time
}

func (i *info) Size() int64        { return i.size }
func (i *info) ModTime() time.Time { return i.time }
func (i *info) Sys() any           { return i.Entry() }
func (i *info) String() string     { return fs.FormatFileInfo(i) }

// Mode returns the type and the permissions. All files can be read, and none can
// be written.
func (i *info) Mode() fs.FileMode {
	switch {
	case i.IsDir():
		return i.mode | 0o555
	case i.mode == fs.ModeSymlink:
		return i.mode | 0o777
	}
	return i.mode | 0o444
}

func compareNames(a, b node) int { return cmp.Compare(a.name, b.name) }

// lookup returns the node with the given name, or nil.
func lookup(all []node, name string) *node {
	i, ok := slices.BinarySearchFunc(all, name, func(n node, name string) int { return cmp.Compare(n.name, name) })
	if !ok {
		return nil
	}
	return &all[i]
}

// entriesOf returns all as directory entries.
func entriesOf(all []node) []fs.DirEntry {
	entries := make([]fs.DirEntry, len(all))
	for i := range all {
		entries[i] = &all[i]
	}
	return entries
}

// elementOf returns the name of an entry as a valid element of a path. If the
// entry has no name, it is the last segment of the URL.
func elementOf(e fetch.Entry) string {
	name := strings.TrimSuffix(e.Name, "/")
	if name == "" {
		path := strings.TrimRight(e.URL.Path(), "/")
		name = path[strings.LastIndexByte(path, '/')+1:]
	}
	switch name {
	case "", ".", "..":
		return strings.Repeat("%2E", max(len(name), 1))
	}
	if utf8.ValidString(name) && !strings.ContainsAny(name, "/\\\x00") {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '/', r == '\\', r == 0:
			b.WriteString(escape(name[i : i+1]))
		case r == utf8.RuneError && !strings.HasPrefix(name[i:], string(utf8.RuneError)):
			b.WriteString(escape(name[i : i+1]))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escape(s string) string { return string(uri.AppendEscape(nil, s, 0)) }

// numberEqual appends numbers to equal names of the sorted list all, and sorts
// the result.
func numberEqual(all []node) []node {
	taken := make(map[string]bool, len(all))
	for _, n := range all {
		taken[n.name] = true
	}
	if len(taken) == len(all) {
		return all
	}
	for i := 0; i < len(all); {
		first, count := all[i].name, 1
		for i++; i < len(all) && all[i].name == first; i++ {
			for taken[all[i].name] {
				count++
				all[i].name = first + "~" + strconv.Itoa(count)
			}
			taken[all[i].name] = true
		}
	}
	slices.SortFunc(all, compareNames)
	return all
}
