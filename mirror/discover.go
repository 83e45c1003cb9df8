package mirror

import (
	"context"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/links"
	"github.com/anyurl/fetch/internal/media"
)

// leads reports whether the body of v leads to other URLs.
func hasLinks(v *visit) bool {
	return v.resp.Kind == fetch.Menu || links.CanExtract(v.resp.Media) || isRobotsTxt(v.scheme, v.url)
}

// discover finds what v leads to. What is found goes into the tables at once where
// it is much, before v is complete: were it lost between the two, it would be
// found again.
func (c *crawl) discover(ctx context.Context, v *visit) error {
	d := c.newDiscovery(ctx, v, v.resp.Media, v.resp.Kind == fetch.Menu)
	d.header = v.resp.Header
	resp := v.resp
	if !resp.Location.IsZero() {
		d.addRedirect(resp.Location)
		return d.finish()
	}
	d.addRobotsTxt()
	body := io.Reader(strings.NewReader(""))
	if hasLinks(v) {
		if body, d.err = v.body.Reader(); d.err != nil {
			return d.err
		}
	}
	switch {
	case d.listing:
		d.readListing(body)
	case isRobotsTxt(v.scheme, v.url):
		d.readSitemapLines(body)
	default:
		d.readLinks(body)
	}
	return d.finish()
}

// rediscover finds what an object that is as it was leads to: this run has not
// seen that yet, and the scope may be another.
func (c *crawl) rediscover(ctx context.Context, v *visit) error {
	last := v.item.LastCapture
	d := c.newDiscovery(ctx, v, last.Media, last.Kind == fetch.Menu.String())
	if v.resp != nil {
		d.header = v.resp.Header
	}
	d.addRobotsTxt()
	if d.listing || !links.CanExtract(last.Media) && !isRobotsTxt(v.scheme, v.url) {
		return d.finish()
	}
	body, err := c.archive.Reopen(ctx, last)
	if err != nil { // Verify tells more; what was brought once is visited nonetheless
		v.note = err.Error()
		return d.finish()
	}
	defer body.Close()
	if isRobotsTxt(v.scheme, v.url) {
		d.readSitemapLines(body)
	} else {
		d.readLinks(body)
	}
	return d.finish()
}

// links reads a page, a style sheet, a sitemap or a Link field.
func (d *discovery) readLinks(body io.Reader) {
	from := &d.v.meta
	if from.OutOfReach > 0 && media.TrimParameters(d.media) != "text/css" {
		return // a page that another needs is not a page to walk on from
	}
	for l, err := range links.Extract(d.v.url, d.media, d.header, body) {
		if err != nil || d.err != nil {
			return // what cannot be read leads nowhere further
		}
		switch {
		case l.Kind == links.Form, l.NoFollow && !d.c.o.IgnoreRobots:
		case l.Kind == links.Sitemap && from.SiteInfo:
			d.addSitemap(l.URL)
		default:
			d.addLink(l.URL, meta{Requisite: l.Kind == links.Requisite || l.Kind == links.Frame})
		}
	}
}
