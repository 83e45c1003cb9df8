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
	Key  frontier.Key // zero: that of URL as it stands
	URL  uri.URI
	Menu bool // what was brought is a listing: fetch.Menu
}

// An Assigned is the path of a URL and what it claims by it, less what is known
// to be claimed already. Two may claim the same folder.
type Assigned struct {
	Path   string
	Claims []frontier.Name
}

// A Namer gives paths that no two URLs share, on no file system: it asks who
// claimed a name before and takes another where it was somebody else. The
// paths follow from the URLs and the order in which they come. It is safe for
// concurrent use, but does not ask twice at once.
//
// The second comer's name is told apart so:
//
//	a@file         a file where there is a folder a
//	a@dir/b        a folder where there is a file a
//	index@dir.html a listing where a file index.html is taken by its own URL
//	a~1f2e3d4c.txt a name that somebody else has: by the URL's key
//
// Where that is taken too, "%~" and the whole key stand for it: no URL has such
// a path of its own, so that nobody can take them all.
type Namer struct {
	layout Layout
	named  func(ctx context.Context, folds []string) (map[string]frontier.Key, error)

	mu      sync.Mutex
	pending map[string]claim // not yet in the tables
	folders recent           // claims in the tables
}

// A claim is who owns a name, and how many of the Assigned that are under way
// say so.
type claim struct {
	key   frontier.Key
	count int
}

// NewNamer returns a Namer by the rules of l for the names that named finds,
// which is the method of a Frontier.
func NewNamer(l Layout, named func(ctx context.Context, folds []string) (map[string]frontier.Key, error)) *Namer {
	return &Namer{layout: l, named: named, pending: map[string]claim{}}
}

// Assign finds a path for each of wants, as one after the other would, and
// keeps what they claim until Committed or Dropped. A URL that owns a name by
// its Key gets that again. An error is that of the question, and claims nothing.
//
// It asks once, and again only where a name was taken.
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
		b.asks, b.last = b.asks[:0], place{}
		sure := len(done) // those before the first of which something is not known
		for i := sure; i < len(wants); i++ {
			a := b.place(wants[i], paths[i])
			if len(b.asks) == 0 {
				sure++
			}
			n.keep(a)
			done = append(done, a)
		}
		n.drop(done[sure:]) // they showed what else to ask for
		done = done[:sure]
		if err := b.ask(ctx); err != nil {
			n.drop(done)
			return nil, err
		}
	}
	return done, nil
}

// Committed says that the claims are in the tables.
func (n *Namer) Committed(as ...Assigned) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(as)
	for _, a := range as {
		for _, c := range a.Claims {
			if c.Key.IsZero() {
				n.folders.add(c.Fold)
			}
		}
	}
}

// Dropped says that they will not be.
func (n *Namer) Dropped(as ...Assigned) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(as)
}

func (n *Namer) keep(a Assigned) {
	for _, c := range a.Claims {
		n.pending[c.Fold] = claim{c.Key, n.pending[c.Fold].count + 1}
	}
}

func (n *Namer) drop(as []Assigned) {
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

// A batch is one call of Assign.
type batch struct {
	namer *Namer
	known map[string]*frontier.Key // by the tables; nil: nobody's
	asks  []string                 // to be asked for
	last  place
}

// A place is a folder and those around it: the next file may be in the same.
type place struct {
	dir    string // by the rules of Path
	path   string // what it is called here
	claims []frontier.Name
}

// ask asks the tables.
func (b *batch) ask(ctx context.Context) error {
	if len(b.asks) == 0 {
		return nil
	}
	found, err := b.namer.named(ctx, b.asks)
	for folded, key := range found {
		b.known[folded] = &key
		if key.IsZero() {
			b.namer.folders.add(folded)
		}
	}
	return err
}

// owner tells whose a name is; recorded, whether the tables say so. A name of
// which nothing is known is nobody's for now, and asked for.
func (b *batch) owner(folded string) (key frontier.Key, taken, recorded bool) {
	if p, ok := b.namer.pending[folded]; ok {
		return p.key, true, false
	}
	if b.namer.folders.has(folded) {
		return key, true, true
	}
	k, ok := b.known[folded]
	if !ok {
		b.asks = append(b.asks, folded)
		b.known[folded] = nil
	}
	if k == nil {
		return key, false, false
	}
	return *k, true, true
}

// place finds the path of one URL, as far as is known.
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

// folder claims a folder.
func (b *batch) folder(p *place, path string) string {
	for _, with := range [...]string{"", "@dir", beyond + "dir"} {
		folded := fold(path + with)
		key, taken, recorded := b.owner(folded)
		if taken && !key.IsZero() {
			continue // by a file
		}
		if !recorded {
			p.claims = append(p.claims, frontier.Name{Fold: folded})
		}
		return path + with
	}
	return path // never, for no file is called that
}

// beyond is in no path that a URL has of its own, where "%" is always followed
// by two digits or alone.
const beyond = "%~"

// file claims a file in dir, and gives a its path.
func (b *batch) file(a *Assigned, w Want, dir, name string) {
	owner, ok := b.claim(a, w, dir+name)
	if ok {
		return
	}
	id := hex.EncodeToString(w.Key[:])
	with := []string{"~" + id[:8], beyond + id} // the last is free
	switch {
	case owner.IsZero():
		with = append([]string{"@file"}, with...)
	case strings.HasPrefix(name, listing(w.URL.Scheme())) && !strings.HasSuffix(w.URL.Path(), name):
		with = append([]string{"@dir"}, with...)
	}
	for _, m := range with {
		if _, ok := b.claim(a, w, dir+mark(name, m)); ok {
			return
		}
	}
}

// claim claims a path for the file of w, or tells who has it; zero: a folder.
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

// mark adds to a name before its extension, so that what looks at that is not
// misled.
func mark(name, with string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || len(name)-i > len(".geojson") || strings.ContainsAny(name[i+1:], "@=%+~,()!-") {
		i = len(name)
	}
	return name[:i] + with + name[i:]
}
