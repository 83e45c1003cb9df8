package gateway

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
)

// captureView returns the view for displaying a capture.
func (x *exchange) captureView(t target, s selection, resp *fetch.Response) view {
	return view{
		View: render.View{
			URL: t.url, Response: resp, Scheme: x.scheme(t.url.Scheme()), Schemes: x.scheme, Links: captureLinks{x.Handler, t.archive, s.chosen, t.url},
			Page: x.newCapturePage("", t, s).Page, Problem: problemText, Order: t.order, Number: t.page,
		},
		form: t.form, replacement: func(l links.Link) string { return x.replacement(t, s, l) },
	}
}

// captureLinks makes links to captures of an archive.
type captureLinks struct {
	*Handler
	archive   *collection
	timestamp string
	url       uri.URI // the captured URL
}

func (l captureLinks) Page(u uri.URI) string {
	if _, ok := l.schemes[u.Scheme()]; !ok {
		return ""
	}
	return l.archive.pathOf(l.timestamp, formPage, u)
}

func (l captureLinks) Bytes(u uri.URI) string  { return l.archive.pathOf(l.timestamp, formBytes, u) }
func (l captureLinks) Inline(u uri.URI) string { return l.Bytes(u) }

func (l captureLinks) Preview(u uri.URI) string { return l.archive.pathOf(l.timestamp, ";preview", u) }

func (l captureLinks) Part(u uri.URI, number string) string {
	return l.archive.path + l.timestamp + string(formBytes) + ";part=" + number + "/" + u.Unredacted()
}

func (l captureLinks) Sorted(column string, number int) string {
	return l.archive.path + l.timestamp + sortParameters(column, number) + "/" + l.url.Unredacted()
}

// Query returns no form, because an archive cannot answer a new query.
func (l captureLinks) Query(u uri.URI) (action string, hidden []render.Field, ok bool) {
	return "", nil, false
}

// withoutCapture tries to answer a request for a URL that has no capture. It
// explains sessions, and redirects to a newsgroup that was captured with the
// other scheme of its server. In all other cases it returns false.
func (x *exchange) withoutCapture(t target) bool {
	if x.schemes[t.url.Scheme()].Traits.Session {
		v := x.captureView(t, selection{}, nil)
		v.Page.Banner = nil
		x.show(v)
		return true
	}
	group, ok := x.otherGroup(t.url)
	if !ok {
		return false
	}
	s, err := t.archive.choose(x.r.Context(), group, t.period)
	if err != nil || s.chosen == "" {
		return false
	}
	x.redirect(t.archive.pathOf(s.chosen, t.form, group))
	return true
}

// otherGroup replaces the scheme in the URL of a newsgroup with the other
// scheme of its server. An article names its groups without a scheme, so a link
// to a group may have the wrong one.
func (h *Handler) otherGroup(u uri.URI) (uri.URI, bool) {
	p, own := u.Parts(), h.scheme(u.Scheme())
	if own.Traits.Listing != scheme.Newsgroup || strings.ContainsAny(strings.TrimPrefix(p.Path, "/"), "@/") {
		return u, false
	}
	for name, s := range h.schemes {
		if name != own.Name && s.Traits.Listing == scheme.Newsgroup && s.Port == own.Port {
			p.Scheme = name
			other, err := uri.Build(p)
			return other, err == nil
		}
	}
	return u, false
}
