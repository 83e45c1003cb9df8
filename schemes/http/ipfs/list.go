package ipfs

import (
	"errors"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

const (
	batch      = 4     // entries that are examined at the same time
	maxExamine = 10000 // entries of a listing whose blocks are requested
)

// A listing returns the entries of a directory. A directory does not have the
// types and the sizes of its entries. They are in the first block of each entry,
// except for an entry that is a single raw block.
type listing struct {
	store    *store
	base     uri.URI // of the directory, with a final slash
	entries  dirReader
	examined int
	ready    []fetch.Entry
	err      error // returned after the entries that are ready
}

// next returns the next entry. It returns io.EOF after the last one.
func (l *listing) next() (fetch.Entry, error) {
	if len(l.ready) == 0 && l.err == nil {
		l.err = l.fill()
	}
	if len(l.ready) == 0 {
		return fetch.Entry{}, l.err
	}
	e := l.ready[0]
	l.ready = l.ready[1:]
	return e, nil
}

// fill reads a few entries and examines them.
func (l *listing) fill() error {
	var found []link
	var end error
	for len(found) < batch && end == nil {
		var next link
		if next, end = l.entries.next(); end == nil {
			found = append(found, next)
		}
	}
	l.ready = make([]fetch.Entry, len(found))
	errs := make([]error, len(found))
	var all sync.WaitGroup
	for i, k := range found {
		if k.cid.codec != dagPBCodec || l.store.driver.check(k.cid) != nil || l.examined == maxExamine {
			l.ready[i] = l.entry(k, nil)
			continue
		}
		l.examined++
		all.Go(func() {
			e, err := l.examine(k)
			errs[i] = err
			l.ready[i] = l.entry(k, e)
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			l.ready = l.ready[:i]
			return err
		}
	}
	return end
}

// examine returns the root of an entry. It returns nil if the gateway does not
// have its block.
func (l *listing) examine(k link) (*entity, error) {
	block := []byte(k.cid.digest)
	if k.cid.hash != identityHash {
		quiet := l.store.req.Clone() // a Trace is not called at the same time by several requests
		quiet.Trace = nil
		var err error
		if block, _, err = l.store.fetch(k.cid, quiet); errors.Is(err, fetch.NotFound) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	e, err := newEntity(k.cid, block)
	if err != nil {
		return nil, nil // the object cannot be read, but the list can
	}
	return &e, nil
}

// entry returns the entry for a link. The root e is nil if it is unknown.
func (l *listing) entry(k link, e *entity) fetch.Entry {
	name := k.name[:min(len(k.name), maxPath)]
	found := fetch.Entry{Name: name, Kind: fetch.Unknown, Size: -1, Raw: name, Extra: map[string]string{"cid": k.cid.String()}}
	path := l.base.Path() + uri.Escape(name, uri.Unreserved)
	switch {
	case l.store.driver.check(k.cid) != nil || !isName(k.name) || len(k.name) > maxPath || len(path) > maxPath:
		found.Kind = fetch.Info
		return found
	case k.cid.codec == rawCodec:
		if found.Kind, found.Media = fetch.Document, media.ByName(k.name); k.size <= maxBlock {
			found.Size = int64(k.size)
		}
	case e == nil:
	case e.isDirectory():
		found.Kind, found.Media, found.Time = fetch.Menu, entries.Media, e.time
		path += "/"
	case e.isFile():
		found.Kind, found.Media, found.Size, found.Time = fetch.Document, media.ByName(k.name), int64(e.size), e.time
	case e.kind == symlinkType:
		found.Kind, found.Extra["target"] = fetch.Info, string(e.data[:min(len(e.data), 4096)])
		return found
	}
	to, err := l.base.WithPath(path)
	if err != nil {
		found.Kind = fetch.Info
		return found
	}
	found.URL = to
	return found
}
