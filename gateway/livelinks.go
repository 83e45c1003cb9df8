package gateway

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
)

// liveLinks creates the links of a live page. The signature of each link
// contains the page and its server, so that the policy treats it as a link from
// this page.
type liveLinks struct {
	*Handler
	target liveTarget
	source guard.Permission // permission for links to other URLs
	own    guard.Permission // permission for links to the same URL
}

func newLiveLinks(h *Handler, t liveTarget, p guard.Permission, resp *fetch.Response) liveLinks {
	l := liveLinks{Handler: h, target: t, source: guard.Permission{Level: guard.Link}, own: p}
	l.source.Source = fetch.Source{URL: sourceOf(t.url), Peer: resp.Peer}
	if p.Level < guard.Entered {
		l.own = l.source
	}
	return l
}

// maxSource is the maximum length in bytes of the source URL in a signature. It
// limits the size of a page, because each of its links contains the source.
const maxSource = 2 << 10

// sourceOf returns the URL that identifies a page in the signatures of its
// links. It shortens a long URL to the scheme, the host and the port, which the
// policy uses.
func sourceOf(u uri.URI) uri.URI {
	if len(u.Unredacted()) <= maxSource {
		return u
	}
	p := u.Parts()
	short, err := uri.Build(uri.Parts{Scheme: p.Scheme, Host: p.Host, Port: p.Port, HasAuthority: p.HasAuthority, HasPort: p.HasPort})
	if err != nil { // not possible, because the parts come from a URL
		return u
	}
	return short
}

// link returns a signed link to t, or "" if the server cannot show its URL.
func (l liveLinks) link(t liveTarget) string {
	scheme, ok := l.schemes[t.url.Scheme()]
	if !ok || t.url.Scheme() == "mailto" || l.gate.schemes != nil && !l.gate.schemes[scheme.Name] {
		return ""
	}
	p := l.source
	if t.url.WithoutFragment() == l.target.url {
		p = l.own
	} else if !scheme.Traits.Mailbox {
		t.url = t.url.WithoutUserinfo()
	}
	return t.path(l.base, l.gate.key.Sign(p, t.url))
}

func (l liveLinks) Page(u uri.URI) string   { return l.link(liveTarget{url: u}) }
func (l liveLinks) Bytes(u uri.URI) string  { return l.link(liveTarget{url: u, raw: true}) }
func (l liveLinks) Inline(u uri.URI) string { return l.Bytes(u) }

func (l liveLinks) Preview(u uri.URI) string {
	return l.link(liveTarget{url: u, parameters: parameters{first: true}})
}

func (l liveLinks) Part(u uri.URI, number string) string {
	return l.link(liveTarget{url: u, raw: true, parameters: parameters{part: number}})
}

func (l liveLinks) Sorted(column string, number int) string {
	order, _ := render.ParseOrder(column)
	return l.link(liveTarget{url: l.target.url, parameters: parameters{order: order, page: number}})
}

// replacement returns the path that replaces a link of an HTML page or a style
// sheet, or "" for a link that cannot be shown.
func (l liveLinks) replacement(link links.Link) string {
	t := liveTarget{url: link.URL, inline: link.Kind == links.Requisite || link.Kind == links.Frame || l.target.inline}
	if link.Kind == links.Form {
		l.source.AnyQuery = true
	}
	return l.link(t)
}
