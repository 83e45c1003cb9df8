package mirror

import (
	"bufio"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/internal/robots"
	"github.com/anyurl/fetch/uri"
)

// site adds the robots.txt of a site at its first page: it is part of what the
// site says, and its Sitemap lines lead on.
func (d *discovery) addRobotsTxt() {
	u := d.v.url
	if !d.v.scheme.Traits.Web || !d.v.hasOrigin || d.v.meta.OutOfReach > 0 {
		return
	}
	if _, seen := d.c.sites.LoadOrStore(d.v.origin, true); seen {
		return
	}
	at, err := u.WithoutQuery().WithoutFragment().WithPath("/robots.txt")
	if err == nil {
		d.addItem(at, archive.Canonical(at), meta{SiteInfo: true, Guessed: true}, 0)
		d.added = 0 // it is no link
	}
}

// sitemaps reads the Sitemap lines of a robots.txt.
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

// guide adds a sitemap. It may lie above what is mirrored; what it lists is
// held to the scope.
func (d *discovery) addSitemap(u uri.URI) {
	if d.c.o.Scope.Depth >= 0 && d.c.schemeOf(u).Traits.Web && len(u.Unredacted()) <= maxURL && d.c.scope.includesSite(u) {
		d.addItem(u, archive.Canonical(u), meta{SiteInfo: true, Guessed: true}, 0)
	}
}
