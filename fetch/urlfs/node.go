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
	fsys    *FS
	name    string
	mode    fs.FileMode // type of the node
	entry   fetch.Entry // entry of the listing; zero for the root
	request *fetch.Request

	mu       sync.Mutex // held during the requests of the following fields
	children []*node    // sorted by name
	listed   bool
	held     int64 // approximate memory of children, in bytes
	info     *info
	target   *node // for a symbolic link
}

func (n *node) Name() string      { return n.name }
func (n *node) IsDir() bool       { return n.mode.IsDir() }
func (n *node) Type() fs.FileMode { return n.mode.Type() }
func (n *node) String() string    { return fs.FormatDirEntry(n) }

// Entry implements [Entrier].
func (n *node) Entry() fetch.Entry { return n.entry }

// list returns the entries of a directory.
func (n *node) list() ([]*node, error) {
	if !n.IsDir() {
		return nil, fetch.Usage.Errorf("not a directory: %w", fs.ErrNotExist)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listed {
		return n.children, nil
	}
	resp, err := n.fsys.client.Do(n.fsys.ctx, n.request)
	if err != nil {
		return nil, err
	}
	all, err := n.read(resp)
	if err != nil {
		n.fsys.held.Add(-n.held)
		n.held = 0
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	n.children, n.listed = numberEqual(all), true
	return n.children, nil
}

// read reads the entries of a listing, and counts their memory.
func (n *node) read(resp *fetch.Response) (all []*node, err error) {
	for e, err := range resp.Entries() {
		if err != nil {
			return nil, err
		}
		mode, ok := n.modeOf(resp.URL, e)
		if !ok {
			continue
		}
		size := int64(entryMemory + len(e.Name) + len(e.Raw) + len(e.URL.Unredacted()))
		for key, value := range e.Extra {
			size += int64(len(key) + len(value))
		}
		n.held += size
		if n.fsys.held.Add(size) > maxHeld {
			return nil, fetch.TooLarge.Errorf("the listings have more than %d bytes", maxHeld)
		}
		all = append(all, &node{fsys: n.fsys, name: elementOf(e), mode: mode, entry: e, request: e.Request()})
	}
	return all, nil
}

// release removes the listing of a directory, and those of all directories below
// it.
func (n *node) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.children {
		c.release()
	}
	if n.target != nil {
		n.target.release()
	}
	n.fsys.held.Add(-n.held)
	n.children, n.listed, n.held = nil, false, 0
}

// modeOf returns the type of an entry of the listing at dir. It returns false if
// the entry is left out.
func (n *node) modeOf(dir uri.URI, e fetch.Entry) (fs.FileMode, bool) {
	_, link := e.Extra["link"]
	link = link || e.Extra["type"] == "symlink"
	switch {
	case e.URL.IsZero():
		return 0, false
	case e.Kind == fetch.Document:
		return 0, true
	case e.Kind == fetch.Menu && !n.fsys.isBelow(dir, e.URL):
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
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.target != nil {
		return n.target, nil
	}
	t := &node{fsys: n.fsys, name: n.name, entry: n.entry, request: n.request}
	kind := n.entry.Kind
	if kind == fetch.Unknown {
		resp, err := t.stat()
		if err != nil {
			return nil, err
		}
		kind = resp.Kind
		t.request = t.request.Clone()
		t.request.URL = resp.URL
		t.setInfo(resp.Size, resp.Time)
	}
	if kind == fetch.Menu {
		t.mode, t.info = fs.ModeDir, nil
	}
	n.target = t
	return t, nil
}

// stat requests the properties of the object.
func (n *node) stat() (*fetch.Response, error) {
	req := n.request.Clone()
	req.Op = fetch.Stat
	resp, err := n.fsys.client.Do(n.fsys.ctx, req)
	if err != nil {
		return nil, err
	}
	return resp, resp.Body.Close()
}

// Info implements fs.DirEntry.
func (n *node) Info() (fs.FileInfo, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.info != nil:
	case n.mode != 0 && n.mode != fs.ModeIrregular:
		n.setInfo(0, n.entry.Time)
	case n.entry.Size >= 0:
		n.setInfo(n.entry.Size, n.entry.Time)
	default:
		resp, err := n.stat()
		if err != nil {
			return nil, err
		}
		n.setInfo(resp.Size, resp.Time)
	}
	return n.info, nil
}

func (n *node) setInfo(size int64, modified time.Time) {
	if modified.IsZero() {
		modified = n.entry.Time
	}
	n.info = &info{node: n, size: max(size, 0), time: modified}
}

// info implements fs.FileInfo.
type info struct {
	*node
	size int64
	time time.Time
}

func (i *info) Size() int64        { return i.size }
func (i *info) ModTime() time.Time { return i.time }
func (i *info) Sys() any           { return i.entry }
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

// lookup returns the node with the given name, or nil.
func lookup(all []*node, name string) *node {
	i, ok := slices.BinarySearchFunc(all, name, func(n *node, name string) int { return cmp.Compare(n.name, name) })
	if !ok {
		return nil
	}
	return all[i]
}

// entriesOf returns a copy of all as directory entries.
func entriesOf(all []*node) []fs.DirEntry {
	entries := make([]fs.DirEntry, len(all))
	for i, n := range all {
		entries[i] = n
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
func numberEqual(all []*node) []*node {
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
	slices.SortFunc(all, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	return all
}
