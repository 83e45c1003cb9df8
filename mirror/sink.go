package mirror

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempdir"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// A Sink receives the objects of a run in place of an archive, for example to
// store them in memory or in a database. [SinkFunc] is a function as a Sink.
type Sink interface {
	// Put receives a visit before Run records the state of the URL. If Run is
	// interrupted in between, a later run with the same Options.Dir visits the
	// URL and calls Put again. Run makes one call at a time, from several
	// goroutines. An error ends the run, which returns this error.
	//
	// Visits that Run repeats later have the State Pending.
	Put(ctx context.Context, v Visit) error
}

// A SinkFunc is an adapter that allows a function to be used as a Sink.
type SinkFunc func(ctx context.Context, v Visit) error

// Put calls f.
func (f SinkFunc) Put(ctx context.Context, v Visit) error { return f(ctx, v) }

// A Visit is the result of the visit of one URL, for a [Sink].
type Visit struct {
	URL uri.URI // the visited URL; Event.URL is its text

	// Event describes the visit: its State, the page that links to the URL, the
	// number of links from a seed, and the error. The field Unchanged is true if
	// an earlier run has retrieved an equal object.
	Event

	// Response is the response of the server, or nil if there is none. Its Body
	// is closed.
	Response *fetch.Response

	// Body reads the object. It is nil if the visit retrieved no object, for
	// example because it failed, or because the server redirected the URL. Body
	// is valid until Put returns.
	Body *io.SectionReader

	// Links are the links in the object, including those that Run does not
	// follow. A link to the target of a redirect is not included, which is
	// Response.Location.
	Links []Link
}

// A Link is a link in a document, or an entry of a listing.
type Link struct {
	URL       uri.URI
	From      string    // URL of the document or the listing
	Depth     int       // number of links between a seed and URL
	Requisite bool      // required to display the document, such as an image
	Size      int64     // size in the listing in bytes, or -1 if unknown
	Time      time.Time // modification time in the listing, or zero if unknown
	Excluded  string    // reason for which Run does not follow the link, or ""
}

// A Decision is the result of Scope.Filter for a link: ByScope, Follow or Omit.
type Decision uint8

const (
	ByScope Decision = iota // the other fields of the Scope decide
	Follow                  // follow the link, even outside the Scope
	Omit                    // do not follow the link
)

// newLink returns the link to u that mt describes.
func newLink(u uri.URI, depth int, mt meta, excluded string) Link {
	l := Link{URL: u, From: mt.From, Depth: depth, Requisite: mt.Requisite, Size: -1, Time: mt.Time, Excluded: excluded}
	if mt.Size != nil {
		l.Size = *mt.Size
	}
	return l
}

// keepLink stores a link for the Sink.
func (d *discovery) keepLink(u uri.URI, mt meta, excluded string) {
	if d.c.o.Sink != nil {
		d.v.links = append(d.v.links, newLink(u, d.v.item.Depth+1, mt, excluded))
	}
}

// deliver passes the visits to the Sink.
func (c *crawl) deliver(visits []*visit, entries []archive.Entry) error {
	if c.o.Sink == nil {
		return nil
	}
	c.sink.Lock()
	defer c.sink.Unlock()
	for i, v := range visits {
		e := c.report.newEvent(v, entries[i].Result.Capture, c.trust.isSeed(v))
		result := Visit{URL: v.url, Event: e, Response: v.resp, Links: v.links}
		if v.body != nil && v.err == nil && v.outcome.succeeded() && !v.redirects() {
			body, err := v.body.Reader()
			if err != nil {
				return err
			}
			result.Body = body
		}
		if err := c.o.Sink.Put(c.ending, result); err != nil {
			return sinkError(err)
		}
	}
	return nil
}

// sinkError returns an error of a Sink with a Fault.
func sinkError(err error) error {
	if fetch.FaultOf(err) == fetch.Internal {
		return fetch.Local.With(err)
	}
	return err
}

// makeDir sets Options.Dir to a new temporary directory if a run with a Sink
// has no directory. The function remove deletes it.
func (o *Options) makeDir() (remove func(), err error) {
	if o.Sink == nil || o.Dir != "" {
		return func() {}, nil
	}
	dir, err := tempdir.Create(os.TempDir(), "fetch-mirror-")
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	o.Dir = filepath.Join(dir.Path(), "archive")
	return dir.Remove, nil
}

// Memory is a [Sink] that keeps the retrieved objects in memory. The keys are
// their URLs. It is for small crawls, and can be read when Run has returned.
//
// It also contains the files robots.txt and the sitemaps that Run has retrieved.
// URLs that failed or redirect are missing. Options.Event receives their errors.
type Memory map[string][]byte

// Put stores the object of a visit that has one.
func (m Memory) Put(_ context.Context, v Visit) (err error) {
	if v.Body != nil {
		m[v.URL.String()], err = io.ReadAll(v.Body)
	}
	return err
}

// OmitIf returns a function for Scope.Filter that omits the links for which omit
// returns true. The other fields of the Scope decide about all other links.
func OmitIf(omit func(Link) bool) func(Link) Decision {
	return func(l Link) Decision {
		if omit(l) {
			return Omit
		}
		return ByScope
	}
}
