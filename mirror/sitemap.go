package mirror

import (
	"bufio"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/robots"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// addRobotsTxt adds the robots.txt of the site of the visited page, once per
// site. The visit of robots.txt archives the file and follows its Sitemap
// lines.
func (d *discovery) addRobotsTxt() {
	u := d.v.url
	if !d.v.scheme.Traits.Web || !d.v.hasOrigin() || d.v.meta.OutOfReach > 0 {
		return
	}
	if _, seen := d.c.sites.LoadOrStore(d.v.origin, true); seen {
		return
	}
	at, err := u.WithoutQuery().WithoutFragment().WithPath("/robots.txt")
	if err == nil {
		stored, _ := d.c.storedRobots(d.ctx, at)
		d.addItem(at, archive.Canonical(at), meta{SiteInfo: true, Guessed: true, Robots: stored}, 0)
		d.added = 0 // the robots.txt does not count as a link of the page
	}
}

// readSitemapLines adds the sitemaps listed in the Sitemap lines of a
// robots.txt.
func (d *discovery) readSitemapLines(body io.Reader) {
	for lines := bufio.NewScanner(io.LimitReader(body, robots.MaxSize)); lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\uFEFF"), ":")
		if !strings.EqualFold(strings.TrimSpace(name), "sitemap") {
			continue
		}
		if u, _, err := baseuri.ResolveLocation(d.v.url, strings.TrimSpace(value)); err == nil {
			d.addSitemap(u)
		}
	}
}

// addSitemap adds a sitemap, which may be out of scope. The URLs listed in the
// sitemap must be in scope.
func (d *discovery) addSitemap(u uri.URI) {
	if d.c.o.Scope.Depth < 0 || !d.c.schemeOf(u).Traits.Web {
		return
	}
	text := archive.Canonical(u)
	switch {
	case !d.c.scope.includesSite(u):
	case int64(len(text)) > limitOr(d.c.o.Limits.URLBytes, defaultURLBytes):
		d.v.leftOut[OverURLBytes]++
	case !d.c.scope.admitSitemap(u, text):
		d.v.leftOut[OverSitemaps]++
	default:
		d.addItem(u, text, meta{SiteInfo: true, Guessed: true}, 0)
	}
}
