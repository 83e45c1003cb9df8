package mirror

import (
	"context"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/links"
	"github.com/anyurl/fetch/internal/media"
)

// hasLinks reports whether the body of v may contain links.
func hasLinks(v *visit) bool {
	return v.resp.Kind == fetch.Menu || links.CanExtract(v.resp.Media) || isRobotsTxt(v.scheme, v.url)
}

// discover adds the URLs in the response of v. A large number of URLs is added
// to the database at once, before v is committed. If the process is killed in
// between, the next visit finds the same URLs.
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

// rediscover adds the URLs in the archived copy of an unchanged object. This
// run has not read the copy yet, and the scope may have changed since an
// earlier run.
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
	if err != nil { // Verify reports the error; links found by an earlier run are still visited
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

// readLinks adds the links of a page, a style sheet, a sitemap or a Link header
// field.
func (d *discovery) readLinks(body io.Reader) {
	from := &d.v.meta
	if from.OutOfReach > 0 && media.TrimParameters(d.media) != "text/css" {
		return // links of a page that is only a requisite are not followed
	}
	for l, err := range links.Extract(d.v.url, d.media, d.header, body) {
		if err != nil || d.err != nil {
			return // a page that cannot be read has no further links
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
