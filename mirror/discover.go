package mirror

import (
	"context"
	"io"
	"strings"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/trap"
	"github.com/anyurl/fetch/uri"
)

// hasLinks reports whether the response body of v may contain links.
func (c *crawl) hasLinks(v *visit) bool {
	return v.resp.Kind == fetch.Menu || c.canExtract(v.resp.Media) || isRobotsTxt(v.scheme, v.url)
}

// canExtract reports whether links are extracted from documents of the given
// media type.
func (c *crawl) canExtract(media string) bool {
	return links.CanExtract(media) || c.o.Speculate && links.CanSpeculate(media)
}

// discover extracts the URLs from the response of v and stores them in v. If
// there are many URLs, discover writes them to the database before v is
// committed. If the process is killed in between, the next visit finds the same
// URLs.
func (c *crawl) discover(ctx context.Context, v *visit) error {
	d := c.newDiscovery(ctx, v, v.resp.Media, v.resp.Kind == fetch.Menu)
	d.header = v.resp.Header
	resp := v.resp
	if !resp.Location.IsZero() {
		d.addRedirect(resp.Location)
		return d.finish()
	}
	d.addRobotsTxt()
	d.stored = resp.Offset > 0
	if v.page != nil && len(v.page.frames) > 0 {
		d.readFrames()
		return d.finish()
	}
	open := func() (io.ReadCloser, error) {
		if !c.hasLinks(v) {
			return io.NopCloser(strings.NewReader("")), nil
		}
		body, err := v.body.Reader()
		return io.NopCloser(body), err
	}
	if err := d.readObject(open); err != nil {
		return err
	}
	return d.finish()
}

// rediscover extracts the URLs from the archived copy of an unchanged object.
// The scope may have changed since the object was retrieved. If the Policy would
// permit a link only because of the page, rediscover retrieves the page again.
func (c *crawl) rediscover(ctx context.Context, v *visit) error {
	last := v.item.LastCapture
	d := c.newDiscovery(ctx, v, last.Media, last.Kind == fetch.Menu.String())
	if v.resp != nil {
		d.header = v.resp.Header
	}
	d.addRobotsTxt()
	if d.listing || !c.canExtract(last.Media) && !isRobotsTxt(v.scheme, v.url) {
		return d.finish()
	}
	d.stored = true
	err := d.readObject(func() (io.ReadCloser, error) { return c.archive.Reopen(ctx, last) })
	if d.err == errUnproven {
		return c.retrieveAgain(ctx, v)
	}
	if err != nil { // ignored, because Verify reports the error and the URLs of earlier runs are still visited
		v.note = err.Error()
	}
	return d.finish()
}

// readObject adds the URLs in a listing or a document. The function open opens it.
// The result is the error of open.
func (d *discovery) readObject(open func() (io.ReadCloser, error)) error {
	body, err := open()
	if err != nil {
		return err
	}
	defer body.Close()
	switch {
	case d.listing:
		d.readListing(body)
	case isRobotsTxt(d.v.scheme, d.v.url):
		d.readSitemapLines(body)
	default:
		d.readLinks(d.v.url, body)
		d.speculate(open)
	}
	return nil
}

// readFrames adds the links of a page that a browser has opened, and of its
// frames.
func (d *discovery) readFrames() {
	page := &fetch.Source{URL: d.v.url, Peer: d.peer}
	d.media = media.TrimParameters(d.media) + "; charset=utf-8" // the browser has converted the text
	for i, f := range d.v.page.frames {
		base, source := d.c.sourceOf(d.v, f)
		if d.setSource(source); i == 1 {
			d.media, d.header = "text/html; charset=utf-8", nil // those of the page do not apply to its frames
		}
		d.readLinks(base, strings.NewReader(f.HTML))
	}
	for _, l := range d.v.page.links {
		u, err := uri.Parse(l.url)
		if err != nil || d.err != nil {
			continue
		}
		if d.setSource(page); !l.ofPage {
			d.setSource(d.v.page.sources.Opened(u))
		}
		d.addLink(u.WithoutFragment(), meta{})
	}
	d.setSource(page)
}

// sourceOf returns the source of the links in a frame of the page of v, and the URL
// to which they are relative. A frame without a URL of its own, such as about:blank,
// belongs to its origin. A frame without an origin counts as an unknown public page.
func (c *crawl) sourceOf(v *visit, f browser.Frame) (base uri.URI, source *fetch.Source) {
	isWeb := func(text string) (uri.URI, bool) {
		u, err := uri.Parse(text)
		return u, err == nil && c.schemeOf(u).Traits.Web
	}
	if u, ok := isWeb(f.URL); ok {
		return u, v.page.sources.Document(u)
	}
	if u, ok := isWeb(f.Origin); ok {
		source = v.page.sources.Document(u)
		return source.URL, source
	}
	return v.url, capture.PublicPage(v.url)
}

// setSource makes a document the source of the links that follow.
func (d *discovery) setSource(s *fetch.Source) {
	d.from, d.peer = archive.Canonical(s.URL), s.Peer
}

// readLinks adds the links in a page, a style sheet, a sitemap or a Link header
// field. The parameter base is the URL of the document.
func (d *discovery) readLinks(base uri.URI, body io.Reader) {
	from := &d.v.meta
	if from.OutOfReach > 0 && media.TrimParameters(d.media) != "text/css" {
		return // links in a requisite outside Scope.Reach are not followed
	}
	text := trap.NewTextDigest(hostOf(d.v.url))
	if d.text == nil { // the text of the page, and not of its frames
		d.text = text
	}
	for l, err := range links.ExtractCopy(d.c.o.Client.Scheme, base, d.media, d.header, body, text) {
		if err != nil || d.err != nil {
			return // the links before the error are added
		}
		switch {
		case l.Kind == links.Form:
		case d.c.o.NoFollow.forbids(l):
			d.v.noFollow++
			d.keepLink(l.URL, meta{From: d.fromText()}, "nofollow")
		case l.Kind == links.Sitemap && from.SiteInfo:
			d.addSitemap(l.URL)
		default:
			d.addLink(l.URL, meta{Requisite: l.Kind == links.Requisite || l.Kind == links.Frame})
		}
	}
}

// forbids reports whether the link l must not be followed.
func (n NoFollow) forbids(l links.Link) bool {
	return l.PageNoFollow && n != FollowAll || l.NoFollow && n == ObeyLinks
}

// speculate adds the strings of a script that look like URLs, if
// Options.Speculate is set. The function open opens the script.
func (d *discovery) speculate(open func() (io.ReadCloser, error)) {
	if !d.c.o.Speculate || !links.CanSpeculate(d.media) || d.v.meta.OutOfReach > 0 || d.err != nil {
		return
	}
	body, err := open()
	if err != nil { // ignored, because readLinks has read the same document
		return
	}
	defer body.Close()
	base := d.v.url
	if page, err := uri.Parse(d.v.meta.From); err == nil && media.TrimParameters(d.media) != "text/html" {
		base = page // browsers resolve the URLs of a script against the URL of its page
	}
	for l, err := range links.Speculate(d.c.o.Client.Scheme, base, body) {
		if err != nil || d.err != nil {
			return // the links before the error are added
		}
		d.addLink(l.URL, meta{Guessed: true})
	}
}
