package mirror

import (
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// maxHops is how many redirects in a row are followed: what a client does.
const maxHops = 10

// redirect adds where an answer leads instead. It is as far from the seeds as
// the URL that was asked for, and where a seed leads is a seed.
func (d *discovery) redirect(u uri.URI) {
	v := d.v
	text := archive.Canonical(u)
	mt := meta{Hops: v.meta.Hops + 1, Part: v.meta.Part, Guide: v.meta.Guide, Guess: v.meta.Guess, Named: v.meta.Named}
	switch {
	case mt.Hops > maxHops, text == archive.Canonical(v.url):
		v.out("too many redirects")
	case len(u.Unredacted()) > maxURL:
		v.out("the redirect leads to a URL that is too long")
	case !mirrored(d.c.schemeOf(u)):
		v.out("the redirect leads to " + u.Scheme() + ", which is not mirrored")
	case mt.Guide:
		d.put(u, text, mt, 0)
	case v.item.Depth == 0 && (d.c.trust.knows(v) || d.c.trust.near(u)):
		mt.Under = text
		d.c.scope.admit(u)
		if d.c.trust.knows(v) {
			d.c.trust.scope.admit(u)
		}
		d.put(u, text, mt, 0)
	default:
		why, off := d.c.scope.link(u, text, v.item.Depth, v.meta.Extra-1, mt)
		if mt.Extra = off; why != "" {
			v.out("the redirect leads to " + text + ": " + why)
			return
		}
		d.put(u, text, mt, v.item.Depth)
	}
}
