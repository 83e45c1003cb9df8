package tree

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A Want is a URL that needs a path.
type Want struct {
	Key  frontier.Key // key of the URL; zero means the key of the field URL
	URL  uri.URI
	Menu bool // if true, the object is a listing (fetch.Menu)
}

// An Assigned is the path of a URL and its new claims. Claims that are already
// in the tables are omitted. Two Assigned may claim the same folder.
type Assigned struct {
	Path   string
	Claims []frontier.Name
}

// A Namer assigns paths that no two URLs share on any file system. It looks up
// the owners of names and chooses another name if a name is taken. Paths depend
// only on the URLs and their order. A Namer is safe for concurrent use; its
// lookups run one at a time.
//
// If a name is taken, the later URL gets one of these names:
//
//	a@file         a file, where a is a folder
//	a@dir/b        a folder, where a is a file
//	index@dir.html a listing, where another URL has the file index.html
//	a~1f2e3d4c.txt another taken name, with a part of the URL's key
//
// If these names are taken too, the name ends in "%~" and the complete key. No
// URL has such a preferred path, so this name is always free.
type Namer struct {
	layout       Layout
	lookupOwners func(ctx context.Context, folds []string) (map[string]frontier.Key, error)

	mu      sync.Mutex
	pending map[string]claim // claims that are not in the tables yet
	folders recent           // known claims in the tables
}

// A claim is the owner of a name, and the number of pending Assigned with this
// claim.
type claim struct {
	key   frontier.Key
	count int
}

// NewNamer returns a Namer for the rules of l. The function named returns the
// owners of names, as the method NameOwners of a Frontier does.
func NewNamer(l Layout, named func(ctx context.Context, folds []string) (map[string]frontier.Key, error)) *Namer {
	return &Namer{layout: l, lookupOwners: named, pending: map[string]claim{}}
}

// Assign returns a path for each of wants, in their order. It keeps their
// claims until Committed or Dropped. A URL that already owns a name gets the
// name again. If the lookup fails, Assign returns its error and makes no
// claims.
//
// Assign needs one lookup, and further lookups only if a name was taken.
func (n *Namer) Assign(ctx context.Context, wants []Want) ([]Assigned, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := batch{namer: n, known: map[string]*frontier.Key{}}
	paths := make([]string, len(wants))
	for i, w := range wants {
		paths[i] = n.layout.Path(w.URL, w.Menu)
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
		n.removePending(done[resolved:]) // discard the results that need a further lookup
		done = done[:resolved]
		if err := b.lookup(ctx); err != nil {
			n.removePending(done)
			return nil, err
		}
	}
	return done, nil
}

// Committed ends the claims of as after the transaction that stored them.
func (n *Namer) Committed(as ...Assigned) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.removePending(as)
	for _, a := range as {
		for _, c := range a.Claims {
			if c.Key.IsZero() {
				n.folders.add(c.Fold)
			}
		}
	}
}

// Dropped releases the claims of as, which were not stored.
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

// A batch is the state of one call of Assign.
type batch struct {
	namer      *Namer
	known      map[string]*frontier.Key // owners in the tables, or nil for a free name
	unresolved []string                 // names to look up
	last       place
}

// A place caches the path of a folder, because consecutive files are often in
// the same folder.
type place struct {
	dir    string // preferred path
	path   string // assigned path
	claims []frontier.Name
}

// lookup looks up the unresolved names.
func (b *batch) lookup(ctx context.Context) error {
	if len(b.unresolved) == 0 {
		return nil
	}
	found, err := b.namer.lookupOwners(ctx, b.unresolved)
	for folded, key := range found {
		b.known[folded] = &key
		if key.IsZero() {
			b.namer.folders.add(folded)
		}
	}
	return err
}

// owner returns the owner of a name. Recorded reports whether the owner is in
// the tables. A name without a lookup counts as free and is added to the
// unresolved names.
func (b *batch) owner(folded string) (key frontier.Key, taken, recorded bool) {
	if p, ok := b.namer.pending[folded]; ok {
		return p.key, true, false
	}
	if b.namer.folders.has(folded) {
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

// place returns the path of one URL according to the lookups so far.
func (b *batch) place(w Want, path string) (a Assigned) {
	if w.Key.IsZero() {
		w.Key = frontier.KeyOf(w.URL.Unredacted())
	}
	end := strings.LastIndexByte(path, '/') + 1
	if b.last.dir != path[:end] {
		b.last = place{dir: path[:end]}
		for name := range strings.SplitSeq(path[:end-1], "/") {
			b.last.path = b.folder(&b.last, b.last.path+name) + "/"
		}
	}
	a.Claims = append(make([]frontier.Name, 0, len(b.last.claims)+1), b.last.claims...)
	b.file(&a, w, b.last.path, path[end:])
	return a
}

// folder claims a folder and returns its path.
func (b *batch) folder(p *place, path string) string {
	for _, with := range [...]string{"", "@dir", reservedMark + "dir"} {
		folded := fold(path + with)
		key, taken, recorded := b.owner(folded)
		if taken && !key.IsZero() {
			continue // the name is taken by a file
		}
		if !recorded {
			p.claims = append(p.claims, frontier.Name{Fold: folded})
		}
		return path + with
	}
	return path // unreachable, because no file has this name
}

// reservedMark occurs in no preferred path, where "%" is followed by two digits
// or is the complete name.
const reservedMark = "%~"

// file claims a file in dir and sets the path of a.
func (b *batch) file(a *Assigned, w Want, dir, name string) {
	owner, ok := b.claim(a, w, dir+name)
	if ok {
		return
	}
	id := hex.EncodeToString(w.Key[:])
	with := []string{"~" + id[:8], reservedMark + id} // the last name is always free
	switch {
	case owner.IsZero():
		with = append([]string{"@file"}, with...)
	case strings.HasPrefix(name, listing(w.URL.Scheme())) && !strings.HasSuffix(w.URL.Path(), name):
		with = append([]string{"@dir"}, with...)
	}
	for _, m := range with {
		if _, ok := b.claim(a, w, dir+insertMark(name, m)); ok {
			return
		}
	}
}

// claim claims a path for the file of w, or returns its owner. A zero owner
// means that the path is a folder.
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

// insertMark inserts text before the extension of a name, so that the extension
// is preserved.
func insertMark(name, with string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || len(name)-i > len(".geojson") || strings.ContainsAny(name[i+1:], "@=%+~,()!-") {
		i = len(name)
	}
	return name[:i] + with + name[i:]
}
