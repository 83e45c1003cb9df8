package mirror

import (
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// maxRedirects is the maximum number of consecutive redirects.
const maxRedirects = 10

// addRedirect adds the target u of a redirect. The target has the same distance
// from the seeds as the redirected URL. The target of a redirected seed counts
// as a seed.
func (d *discovery) addRedirect(u uri.URI) {
	v := d.v
	text := archive.Canonical(u)
	mt := meta{
		Hops: v.meta.Hops + 1, Requisite: v.meta.Requisite,
		SiteInfo: v.meta.SiteInfo, Guessed: v.meta.Guessed, Referenced: v.meta.Referenced, Chain: v.meta.Chain,
	}
	switch {
	case mt.Hops > maxRedirects, d.c.identity.KeyOf(text) == v.item.Key:
		v.exclude("too many redirects")
	case int64(len(u.Unredacted())) > limitOr(d.c.o.Limits.URLBytes, defaultURLBytes):
		v.leftOut[OverURLBytes]++
		v.exclude("the URL of the redirect is too long")
	case !canMirror(d.c.schemeOf(u)):
		v.exclude("the redirect leads to " + u.Scheme() + ", which cannot be mirrored")
	case mt.SiteInfo:
		d.addItem(u, text, mt, 0)
	case v.item.Depth == 0 && (d.c.trust.isTrusted(v) || d.c.trust.inSeedDomain(u)):
		mt.SeedTarget = text
		d.c.scope.addSeed(u)
		if d.c.trust.isTrusted(v) {
			d.c.trust.scope.addSeed(u)
		}
		d.addItem(u, text, mt, 0)
	default:
		mt.From = d.fromText()
		reason, off := d.c.scope.checkLink(u, text, v.item.Depth, v.meta.OutOfReach-1, mt)
		if mt.OutOfReach = off; reason != "" {
			v.exclude("the redirect leads to " + text + ": " + reason)
			if g, ok := guardOf(reason); ok {
				v.leftOut[g]++
			}
			return
		}
		d.addItem(u, text, mt, v.item.Depth)
	}
}
