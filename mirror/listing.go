package mirror

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// readListing adds the URLs of a listing. The driver of the scheme parses the
// listing.
func (d *discovery) readListing(body io.Reader) {
	resp := *d.v.resp
	resp.Body = io.NopCloser(body)
	for e, err := range resp.Entries() {
		if d.err != nil {
			return
		}
		if err != nil {
			d.err = err // the visit fails, because entries may be missing
			return
		}
		d.addEntry(e)
	}
}

// addEntry adds the URLs of one entry in a listing.
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
	case e.Kind == fetch.Unknown && e.Extra["type"] != "" && d.c.schemeOf(e.URL).Traits.ListsExactSizes:
		// Opening a special file, such as a pipe or a device, may block
		// forever.
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

// isReferenced reports whether e is in scope on any host, because a Prospero
// directory refers to it. This applies to files, and to directories on the same
// server. Directories on other servers are not included, because references
// connect all Prospero servers.
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

// articleURL returns the URL under which the entry e is mirrored. This is the
// permanent URL of a news article if the driver has one, or else the URL of e.
func (d *discovery) articleURL(e fetch.Entry, mt *meta) uri.URI {
	s := d.c.schemeOf(e.URL)
	if s.Mirror.Article == nil {
		return e.URL
	}
	u, number, ok := s.Mirror.Article(d.v.url, e.URL, e.Extra)
	if !ok {
		return e.URL
	}
	if _, err := d.c.o.Client.Plan(&fetch.Request{URL: u}); err != nil {
		return e.URL
	}
	mt.ArticleName = number
	return u
}

// addAttributes adds the URL of the Gopher+ attributes of the entry e.
func (d *discovery) addAttributes(e fetch.Entry, mt meta) {
	mt.Size = nil
	if u, err := uri.Parse(e.URL.Unredacted() + "%09%09!"); err == nil {
		d.addLink(u, mt)
	}
}
