package gateway

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/askform"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
)

// routeGate calls the method that handles a route of live pages. It returns
// false if path belongs to another route.
func (x *exchange) routeGate(path string) bool {
	end := strings.IndexAny(path+"/", ";/?")
	route, rest := path[:end], path[end:]
	query, isQuery := strings.CutPrefix(rest, "?")
	switch {
	case x.r.Method == http.MethodPost:
		x.answerForm(path)
	case route == "" && isQuery:
		x.answerHome(query)
	case route == "live" && isQuery:
		x.answerSearch(query)
	case path == "logins":
		x.showLogins()
	case route == "live", route == "raw":
		x.routeLive(route == "raw", rest)
	default:
		return false
	}
	return true
}

// answerHome answers a request for the first page with a query: the token that
// the program prints, or the initial value of the form for a URL.
func (x *exchange) answerHome(query string) {
	values, err := url.ParseQuery(query)
	if err != nil {
		x.fail(http.StatusBadRequest, "The query is invalid", err.Error())
		return
	}
	if values.Has("token") {
		x.acceptToken(values.Get("token"))
		return
	}
	text := ""
	if o := guard.OriginOf(x.r.Method, x.r.Host, x.r.Header); o == guard.Own || o == guard.Navigation {
		text = values.Get("url") // other sites must not fill in the form
	}
	x.home(text)
}

// answerSearch answers a search form that was sent with the method GET.
func (x *exchange) answerSearch(query string) {
	values, err := url.ParseQuery(query)
	if err != nil {
		x.fail(http.StatusBadRequest, "The URL is invalid", "The form cannot be read.")
		return
	}
	x.answerQuery(values)
}

// routeLive serves a live page or the bytes of an object. The parameter rest is
// the request target after the name of the route.
func (x *exchange) routeLive(raw bool, rest string) {
	t, ok, err := parseLive(raw, rest)
	switch {
	case !ok:
		x.notFound()
		return
	case err != nil:
		x.fail(http.StatusBadRequest, "The URL is invalid", err.Error())
		return
	}
	if t.first {
		x.startPreview()
	}
	p, ok := x.permission(t)
	if !ok {
		x.refuseOrigin()
		return
	}
	if p.Level != guard.Link {
		x.w.Header().Set(resourcePolicy, "same-origin")
	}
	x.serveLive(t, p)
}

// permission determines how far the URL of a request is trusted. It returns
// false if the request comes from a page of another site.
func (x *exchange) permission(t liveTarget) (p guard.Permission, ok bool) {
	p, signed := x.gate.key.Verify(t.via, t.url)
	switch origin := guard.OriginOf(x.r.Method, x.r.Host, x.r.Header); {
	case origin == guard.Foreign, origin == guard.Sandboxed && (!signed || p.Level != guard.Link):
		return p, false
	case signed:
		return p, true
	}
	return guard.Permission{Level: guard.Public}, true // a navigation too, because a redirect of another site looks the same
}

// serveLive requests the object of t with the permission p. It sends the object
// as a page or as bytes, as t selects.
func (x *exchange) serveLive(t liveTarget, p guard.Permission) {
	scheme := x.schemes[t.url.Scheme()]
	if !x.admits(t, scheme) {
		return
	}
	if scheme.Traits.Session {
		v := x.liveView(newLiveLinks(x.Handler, t, p, &fetch.Response{}), nil)
		v.Write(x.r.Context(), x.w) // an error means that the client closed the connection
		return
	}
	x.retrieveLive(t, p, scheme, x.isPersonal())
}

// admits reports whether the server shows live pages of t.url. If not, it sends
// a page that describes the reason.
func (x *exchange) admits(t liveTarget, scheme fetch.Scheme) bool {
	_, _, password := t.url.User()
	switch {
	case scheme.Name == "":
		x.fail(http.StatusBadRequest, "The scheme is not supported", "The server has no driver for "+t.url.Scheme()+" URLs.")
	case x.gate.schemes != nil && !x.gate.schemes[scheme.Name]:
		x.fail(http.StatusForbidden, "The scheme is not permitted", "This server shows no live pages for "+scheme.Name+" URLs.")
	case password:
		x.refusePassword()
	case needsToken(scheme) && !x.isPersonal():
		x.fail(http.StatusForbidden, "This URL needs the token of the server",
			"Pages of "+scheme.Name+" URLs show data of the user. First open the address with the token, which the server printed when it started.")
	default:
		return true
	}
	return false
}

// needsToken reports whether URLs of a scheme show data of the user.
func needsToken(s fetch.Scheme) bool { return s.Local || s.Traits.Mailbox || s.Traits.UserKeys }

// retrieveLive requests the object of t and sends it.
func (x *exchange) retrieveLive(t liveTarget, p guard.Permission, scheme fetch.Scheme, personal bool) {
	op := fetch.Get
	if x.r.Method == http.MethodHead {
		op = fetch.Stat
	}
	u := t.url
	if attributes, ok := askform.Attributes(u); ok && !t.raw {
		u = attributes
		x.w.Header().Set("Referrer-Policy", "same-origin") // so that the form has an Origin
	}
	req := &fetch.Request{URL: u, Op: op}
	if personal {
		x.login = x.findLogin(t, p, scheme)
		req.Auth = x.login
	}
	resp, err := x.retrieveRange(t, scheme, req, p, personal)
	x.reportLogin(resp, err)
	if errors.Is(err, fetch.NeedQuery) && !t.raw {
		x.showIndex(t, p)
		return
	}
	if err != nil {
		if !x.askLogin(t, p, scheme, err) {
			x.liveError(t, p, err)
		}
		return
	}
	defer resp.Body.Close()
	if x.askLogin(t, p, scheme, resp.Fault) {
		return
	}
	setStatus(resp, scheme)
	if resp.Media == "" && resp.Kind != fetch.Menu {
		sniff(resp, t.url)
	}
	x.w.Header().Set("Cache-Control", "no-store")
	x.live, x.unframed = true, !t.inline
	l := newLiveLinks(x.Handler, t, p, resp)
	switch {
	case !resp.Location.IsZero():
		x.redirectLive(l, resp)
	case t.feed:
		x.liveFeed(t, resp)
	case t.part != "":
		x.livePart(t, p, resp)
	case t.first:
		x.showPreview(x.liveView(l, resp))
	case t.raw:
		x.attach(resp.Media, nameOf(t.url))
		x.raw(resp)
	default:
		x.show(x.liveView(l, resp))
	}
}

// showIndex sends a page with the search form of an index. The results of a
// search are trusted as much as the index.
func (x *exchange) showIndex(t liveTarget, p guard.Permission) {
	resp := &fetch.Response{Kind: fetch.Index, Body: http.NoBody, Size: -1}
	l := newLiveLinks(x.Handler, t, p, resp)
	l.own = p
	x.show(x.liveView(l, resp))
}

// sniff sets the media type of a response from its first bytes.
func sniff(resp *fetch.Response, u uri.URI) {
	prefix := bufio.NewReaderSize(resp.Body, 4<<10)
	start, _ := prefix.Peek(media.SniffLen) // the next Read returns the same error
	resp.Media = media.TypeOf(u.Path(), start)
	resp.Body = readCloser{prefix, resp.Body}
}

// redirectLive passes the redirect of a server to the client. The new URL is
// treated as a link from the old one.
func (x *exchange) redirectLive(l liveLinks, resp *fetch.Response) {
	to := l.target
	to.url = resp.Location
	path := l.link(to)
	if path == "" {
		x.fail(http.StatusBadGateway, "The server redirects to a URL that cannot be shown", resp.Location.String())
		return
	}
	x.w.Header().Set("Location", path)
	x.w.WriteHeader(redirectStatus(resp.Code))
}

// liveView returns the view for displaying a live page.
func (x *exchange) liveView(l liveLinks, resp *fetch.Response) view {
	p := x.newPage("", nil)
	p.Banner = &render.Banner{Label: "Document", URL: l.target.url.WithoutUserinfo().String(),
		Links: []render.Link{{Name: "bytes", Path: l.Bytes(l.target.url)}}}
	if resp != nil && resp.Code >= 300 {
		p.Banner.Facts = append(p.Banner.Facts, render.Fact{Name: "Status", Value: statusText(resp.Code)})
	}
	if resp != nil && resp.Peer.IsValid() {
		p.Banner.Facts = append(p.Banner.Facts, render.Fact{Name: "Answered by", Value: resp.Peer.String()})
	}
	if x.login != nil {
		p.Banner.Facts = append(p.Banner.Facts, render.Fact{Name: "Logged in as", Value: tty.Escape(x.login.User)})
		p.Banner.Links = append(p.Banner.Links, render.Link{Name: "logins", Path: x.base + "/logins"})
	}
	if resp != nil && resp.Kind == fetch.Menu && !isProxied(x.r) && x.login == nil && !needsToken(x.scheme(l.target.url.Scheme())) {
		p.Banner.Links = append(p.Banner.Links, render.Link{Name: "feed", Path: l.target.feedPath(x.base)})
	}
	f := formPage
	if l.target.inline {
		f = formPlain
	}
	return view{
		View: render.View{URL: l.target.url, Response: resp, Scheme: x.scheme(l.target.url.Scheme()), Schemes: x.scheme, Links: l, Page: p.Page,
			Problem: liveProblem, Order: l.target.order, Number: l.target.page},
		form: f, replacement: l.replacement,
	}
}

// liveProblem describes an error in the body of a live page.
func liveProblem(err error) string {
	return "The transfer failed (" + fetch.FaultOf(err).Error() + ")."
}

// livePart sends the decoded content of one part of a message.
func (x *exchange) livePart(t liveTarget, p guard.Permission, resp *fetch.Response) {
	part, body, err := openPart(resp, t.part)
	if err != nil {
		x.liveError(t, p, err)
		return
	}
	x.attach(part.Media, render.PartName(part))
	x.raw(&fetch.Response{Media: part.Media, Size: -1, Body: io.NopCloser(body)})
}
