package mirror

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// entries reads a listing by the parser of its scheme.
func (d *discovery) readListing(body io.Reader) {
	resp := *d.v.resp
	resp.Body = io.NopCloser(body)
	for e, err := range resp.Entries() {
		if d.err != nil {
			return
		}
		if err != nil {
			d.err = err // half a listing tells nothing of the other half
			return
		}
		d.addEntry(e)
	}
}

// entry adds what one line of a listing leads to.
func (d *discovery) addEntry(e fetch.Entry) {
	if e.URL.IsZero() || e.Kind == fetch.Session || e.Kind == fetch.Index || e.Kind == fetch.Info || d.c.isArchive(e) {
		return
	}
	mt := meta{Time: e.Time, Run: d.c.runNumber, Symlinks: d.v.meta.Symlinks, Referenced: d.isReferenced(e)}
	switch target, link := symlinkTarget(e); {
	case link:
		if mt.Symlinks = d.followSymlink(e.URL, target); mt.Symlinks == nil {
			return
		}
	case e.Kind == fetch.Unknown && e.Extra["type"] != "" && d.c.schemeOf(e.URL).Traits.ListsExactSizes: // a pipe, a device: who opens one may wait for ever
		return
	}
	if e.Size >= 0 && e.Kind != fetch.Menu {
		mt.Size = &e.Size
	}
	d.addLink(d.articleURL(e, &mt), mt)
	if e.Extra["plus"] == "+" {
		d.addAttributes(e, mt)
	}
}

// names reports whether a listing of references makes e part of the mirror,
// although e may lie on another host: a file that a Prospero directory names, or
// another directory of the same server. Directories of other servers are left
// out, because they name the rest of the world.
func (d *discovery) isReferenced(e fetch.Entry) bool {
	if !d.v.scheme.Mirror.References {
		return false
	}
	if e.Kind != fetch.Menu {
		return true
	}
	origin, ok := originOf(e.URL)
	return ok && origin == d.v.origin
}

// article returns the URL by which e is mirrored. It is that of e, unless e is
// an article with a lasting URL that the driver accepts.
func (d *discovery) articleURL(e fetch.Entry, mt *meta) uri.URI {
	s := d.c.schemeOf(e.URL)
	if s.Mirror.Article == nil {
		return e.URL
	}
	u, number, ok := s.Mirror.Article(d.v.url, e)
	if !ok {
		return e.URL
	}
	if _, err := d.c.o.Client.Plan(&fetch.Request{URL: u}); err != nil {
		return e.URL
	}
	mt.ArticleName = number
	return u
}

// attributes adds what Gopher+ tells about an item beside it.
func (d *discovery) addAttributes(e fetch.Entry, mt meta) {
	mt.Size = nil
	if u, err := uri.Parse(e.URL.Unredacted() + "%09%09!"); err == nil {
		d.addLink(u, mt)
	}
}
