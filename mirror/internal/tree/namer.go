package tree

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A Want describes a URL for which the caller requests a path from a Namer.
type Want struct {
	Key  frontier.Key // key of the URL; zero means the key of the field URL
	URL  uri.URI
	Menu bool // if true, the object is a listing (fetch.Menu)
}

// An Assigned contains the path that was assigned to a URL. It also contains
// the names that the URL reserves, which the caller must store. Two Assigned
// values can contain the same directory.
type Assigned struct {
	Path   string
	Claims []frontier.Name
	dir    string // preferred path of the directory
}

// A Namer assigns a unique path to each URL. The paths are unique even on file
// systems that ignore case. Paths depend only on the URLs and their order. A
// Namer is safe for concurrent use, but performs one lookup at a time.
//
// If a name belongs to another URL, the later URL gets one of these names:
//
//	a@file         a file, where a is a directory
//	a@dir/b        a directory, where a is a file
//	index@dir.html a listing, where another URL has the file index.html
//	a~1f2e3d4c.txt any other case, with the start of the key of the URL
//
// If these names also belong to other URLs, the name ends in "%~" and the
// complete key. This name is always free, because no preferred path contains
// "%~".
type Namer struct {
	layout       Layout
	scheme       func(name string) fetch.Scheme
	lookupOwners func(ctx context.Context, folds []string) (map[string]frontier.Key, error)

	mu      sync.Mutex
	pending map[string]claim // reserved names that are not yet in the database
	folders recent[struct{}] // cache of directory names that are in the database
	renamed recent[string]   // cache of assigned directories that are in the database, by preferred path
}

// These are the numbers of names in each map of the caches of a Namer.
const (
	maxFolders = 8192
	maxRenamed = 1024
)

// A claim is a reserved name that is not yet in the database. It contains the
// owner of the name, and counts the pending Assigned values with the name.
type claim struct {
	key   frontier.Key
	count int
}

// NewNamer returns a Namer for paths in the Layout l. The function scheme returns
// the scheme with a name. The function named returns the owners of names, like
// the method NameOwners of a frontier.Frontier.
func NewNamer(l Layout, scheme func(name string) fetch.Scheme,
	named func(ctx context.Context, folds []string) (map[string]frontier.Key, error)) *Namer {
	return &Namer{layout: l, scheme: scheme, lookupOwners: named, pending: map[string]claim{},
		folders: recent[struct{}]{max: maxFolders}, renamed: recent[string]{max: maxRenamed}}
}

// Assign returns a path for each of wants, in the same order. It reserves the
// names in these paths until Committed or Dropped is called. A URL that already
// has a path gets the same path. If the lookup fails, Assign returns the error
// and reserves no names.
//
// Assign performs one lookup, and more lookups only if a name belongs to
// another URL.
func (n *Namer) Assign(ctx context.Context, wants []Want) ([]Assigned, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := batch{namer: n, known: map[string]*frontier.Key{}}
	paths := make([]string, len(wants))
	for i, w := range wants {
		paths[i] = n.layout.Path(n.scheme(w.URL.Scheme()), w.URL, w.Menu)
	}
	done := make([]Assigned, 0, len(wants))
	for len(done) < len(wants) {
		b.unresolved, b.last = b.unresolved[:0], place{}
		resolved := len(done) // number of results that need no further lookup
		for i := resolved; i < len(wants); i++ {
			a := b.place(wants[i], paths[i])
			if len(b.unresolved) == 0 {
				resolved++
			}
			n.addPending(a)
			done = append(done, a)
		}
		n.removePending(done[resolved:]) // discard the results that require another lookup
		done = done[:resolved]
		if err := b.lookup(ctx); err != nil {
			n.removePending(done)
			return nil, err
		}
	}
	return done, nil
}

// Committed ends the reservation of the names in as, because a transaction has
// stored them in the database. The caller must call it after the transaction.
func (n *Namer) Committed(as ...Assigned) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.removePending(as)
	for _, a := range as {
		for _, c := range a.Claims {
			if c.Key.IsZero() {
				n.folders.add(c.Fold, struct{}{})
			}
		}
		if dir := directoryOf(a.Path); dir != a.dir {
			n.renamed.add(a.dir, dir)
		}
	}
}

// Dropped ends the reservation of the names in as, because no transaction has
// stored them. Other URLs can then get these names.
func (n *Namer) Dropped(as ...Assigned) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.removePending(as)
}

func (n *Namer) addPending(a Assigned) {
	for _, c := range a.Claims {
		n.pending[c.Fold] = claim{c.Key, n.pending[c.Fold].count + 1}
	}
}

func (n *Namer) removePending(as []Assigned) {
	for _, a := range as {
		for _, c := range a.Claims {
			p := n.pending[c.Fold]
			if p.count--; p.count <= 0 {
				delete(n.pending, c.Fold)
				continue
			}
			n.pending[c.Fold] = p
		}
	}
}

// A batch holds the state of one call of Assign.
type batch struct {
	namer      *Namer
	known      map[string]*frontier.Key // owners of names in the database, or nil for a free name
	unresolved []string                 // names to look up
	last       place
}

// A place caches the path of a directory, because consecutive files are often
// in the same directory.
type place struct {
	dir    string // preferred path
	path   string // assigned path
	claims []frontier.Name
}

// lookup looks up the owners of the unresolved names.
func (b *batch) lookup(ctx context.Context) error {
	if len(b.unresolved) == 0 {
		return nil
	}
	found, err := b.namer.lookupOwners(ctx, b.unresolved)
	for folded, key := range found {
		b.known[folded] = &key
		if key.IsZero() {
			b.namer.folders.add(folded, struct{}{})
		}
	}
	return err
}

// owner returns the key of the URL that owns a name, if the name is taken. The
// result recorded reports whether the database contains this owner. If the name
// was not looked up, owner adds it to the unresolved names and returns false.
func (b *batch) owner(folded string) (key frontier.Key, taken, recorded bool) {
	if p, ok := b.namer.pending[folded]; ok {
		return p.key, true, false
	}
	if _, ok := b.namer.folders.get(folded); ok {
		return key, true, true
	}
	k, ok := b.known[folded]
	if !ok {
		b.unresolved = append(b.unresolved, folded)
		b.known[folded] = nil
	}
	if k == nil {
		return key, false, false
	}
	return *k, true, true
}

// place assigns a path to one URL. It treats a name as free if the owner of the
// name has not been looked up yet.
func (b *batch) place(w Want, path string) (a Assigned) {
	if w.Key.IsZero() {
		w.Key = frontier.KeyOf(w.URL.Unredacted())
	}
	a.dir = directoryOf(path)
	if b.last.dir != a.dir {
		b.last = b.directory(a.dir)
	}
	a.Claims = append(make([]frontier.Name, 0, len(b.last.claims)+1), b.last.claims...)
	b.file(&a, w, b.last.path, path[len(a.dir):])
	return a
}

// directoryOf returns a path up to its last slash.
func directoryOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// directory assigns a path to a directory. The path of the nearest renamed parent
// is in a cache, so that each of many renamed parents needs no lookup of its own.
func (b *batch) directory(dir string) place {
	p := place{dir: dir}
	parent := dir
	for parent != "" {
		path, ok := b.namer.renamed.get(parent)
		if ok {
			p.path = path
			break
		}
		parent = directoryOf(parent[:len(parent)-1])
	}
	if parent == dir {
		return p
	}
	for name := range strings.SplitSeq(dir[len(parent):len(dir)-1], "/") {
		p.path = b.folder(&p, p.path+name) + "/"
	}
	return p
}

// folder reserves the names of a directory and returns its path.
func (b *batch) folder(p *place, path string) string {
	for _, with := range [...]string{"", "@dir", reservedMark + "dir"} {
		folded := fold(path + with)
		key, taken, recorded := b.owner(folded)
		if taken && !key.IsZero() {
			continue // the name belongs to a file
		}
		if !recorded {
			p.claims = append(p.claims, frontier.Name{Fold: folded})
		}
		return path + with
	}
	return path // never reached, because no file has this name
}

// reservedMark occurs in no preferred path, because "%" is either followed by
// two digits or is the complete name.
const reservedMark = "%~"

// file reserves a file name in the directory dir and stores the path in a.
func (b *batch) file(a *Assigned, w Want, dir, name string) {
	owner, ok := b.claim(a, w, dir+name)
	if ok {
		return
	}
	id := hex.EncodeToString(w.Key[:])
	suffixes := []string{"~" + id[:8], reservedMark + id} // the last name is always free
	switch {
	case owner.IsZero():
		suffixes = append([]string{"@file"}, suffixes...)
	case strings.HasPrefix(name, listing(b.namer.scheme(w.URL.Scheme()))) && !strings.HasSuffix(w.URL.Path(), name):
		suffixes = append([]string{"@dir"}, suffixes...)
	}
	for _, m := range suffixes {
		if _, ok := b.claim(a, w, dir+insertMark(name, m)); ok {
			return
		}
	}
}

// claim reserves a path for the file of w. If the path is reserved for another
// URL, claim returns its owner and false. A zero owner means that the path is a
// directory.
func (b *batch) claim(a *Assigned, w Want, path string) (owner frontier.Key, ok bool) {
	folded := fold(path)
	owner, taken, recorded := b.owner(folded)
	if taken && owner != w.Key {
		return owner, false
	}
	a.Path = path
	if !recorded {
		a.Claims = append(a.Claims, frontier.Name{Fold: folded, Key: w.Key})
	}
	return owner, true
}

// insertMark inserts the parameter mark into a file name before the extension,
// so that the extension is preserved.
func insertMark(name, mark string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || len(name)-i > len(".geojson") || strings.ContainsAny(name[i+1:], "@=%+~,()!-") {
		i = len(name)
	}
	return name[:i] + mark + name[i:]
}

// Claims returns the names to reserve for a file that already has the given
// path. The parameter key is the key of its URL.
func Claims(key frontier.Key, path string) []frontier.Name {
	var names []frontier.Name
	for i := range len(path) {
		if path[i] == '/' {
			names = append(names, frontier.Name{Fold: fold(path[:i])})
		}
	}
	return append(names, frontier.Name{Fold: fold(path), Key: key})
}
