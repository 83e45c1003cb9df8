package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
)

// absoluteForm matches a request target that is a URL (RFC 9112, section 3.2.2).
// Clients send it to a proxy only.
var absoluteForm = lazy.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// isProxied reports whether the client uses the server as a proxy.
func isProxied(r *http.Request) bool {
	return r.Method != http.MethodConnect && absoluteForm().MatchString(r.RequestURI)
}

// proxy answers a request of a client that uses the server as a proxy. The URL
// is treated as a link from a page of an unknown public server, because a proxy
// request does not contain its origin. Personal data and passwords are never
// used.
func (x *exchange) proxy() {
	u, err := uri.Parse(uri.EscapeNonASCII(x.r.RequestURI))
	if err != nil {
		x.fail(http.StatusBadRequest, "The URL is invalid", err.Error())
		return
	}
	u = u.WithoutFragment()
	scheme, ok := x.schemes[u.Scheme()]
	_, login := u.Userinfo()
	switch {
	case x.gate == nil || x.public != nil:
		x.fail(http.StatusForbidden, "This server is not a proxy", "It answers no requests for URLs of other servers.")
	case !ok:
		x.fail(http.StatusBadRequest, "The scheme is not supported", "The server has no driver for "+u.Scheme()+" URLs.")
	case scheme.Traits.Web:
		x.fail(http.StatusForbidden, "This server is not a proxy for Web servers", "Requests for "+scheme.Name+" URLs must be sent to the Web server.")
	case x.gate.schemes != nil && !x.gate.schemes[scheme.Name]:
		x.fail(http.StatusForbidden, "The scheme is not permitted", "This server shows no live pages for "+scheme.Name+" URLs.")
	case login:
		x.fail(http.StatusForbidden, "The URL contains a login", "Requests to a proxy have no access to accounts.")
	case needsToken(scheme):
		x.fail(http.StatusForbidden, "This URL needs the token of the server",
			"Requests to a proxy have no access to files and mailboxes. Open the URL on the first page of the server.")
	case scheme.Traits.Session:
		x.fail(http.StatusOK, "Interactive session", u.String()+" opens a session. Open the URL with a terminal program, for example with the command fetch.")
	default:
		x.retrieveProxied(u, scheme)
	}
}

// retrieveProxied requests the object at u and sends it. Listings and messages
// become HTML pages, and other objects are unchanged.
func (x *exchange) retrieveProxied(u uri.URI, scheme fetch.Scheme) {
	op := fetch.Get
	if x.r.Method == http.MethodHead {
		op = fetch.Stat
	}
	untyped := isUntyped(x.r, u)
	if untyped {
		u = withType(u)
	}
	resp, err := x.gate.retrieve(x.r.Context(), scheme, &fetch.Request{URL: u, Op: op}, guard.Permission{}, false)
	if errors.Is(err, fetch.NeedQuery) {
		resp, err = &fetch.Response{Kind: fetch.Index, Body: http.NoBody, Size: -1}, nil
	}
	if err != nil { // raw selects an error page without a form
		x.liveError(liveTarget{url: u, raw: true}, guard.Permission{}, err)
		return
	}
	defer resp.Body.Close()
	setStatus(resp, scheme)
	if resp.Media == "" && resp.Kind != fetch.Menu && resp.Kind != fetch.Index {
		sniff(resp, u)
	}
	x.w.Header().Set("Cache-Control", "no-store")
	x.live = true
	l := proxyLinks{newLiveLinks(x.Handler, liveTarget{url: u}, guard.Permission{}, resp), "http://" + x.address, !untyped}
	v := x.liveView(l.liveLinks, resp)
	v.Links = l
	for i := range v.Page.Banner.Links {
		v.Page.Banner.Links[i].Path = l.absolute(v.Page.Banner.Links[i].Path)
	}
	switch form := v.Form(); {
	case !resp.Location.IsZero():
		x.w.Header().Set("Location", l.Page(resp.Location.WithoutUserinfo()))
		x.w.WriteHeader(redirectStatus(resp.Code))
	case form == render.Listing || form == render.Message || resp.Kind == fetch.Index:
		x.show(v)
	default:
		x.raw(resp)
	}
}

// proxyLinks makes the links of a page for a client that uses the server as a
// proxy. Links to pages are the URLs themselves, so that the client shows them
// and sends them to its proxies.
type proxyLinks struct {
	liveLinks
	server string // URL of this server without a path
	direct bool   // false if the client changes URLs before it sends them to a proxy
}

// absolute returns the URL of a path of this server, or "".
func (l proxyLinks) absolute(path string) string {
	if path == "" {
		return ""
	}
	return l.server + path
}

func (l proxyLinks) Page(u uri.URI) string {
	if scheme, ok := l.schemes[u.Scheme()]; ok && !l.direct && !scheme.Traits.Web {
		return l.absolute(l.liveLinks.Page(u))
	}
	return u.WithoutUserinfo().Unredacted()
}

func (l proxyLinks) Bytes(u uri.URI) string  { return l.absolute(l.liveLinks.Bytes(u)) }
func (l proxyLinks) Inline(u uri.URI) string { return l.absolute(l.liveLinks.Inline(u)) }

// Preview returns no link, because text browsers have no frames.
func (l proxyLinks) Preview(uri.URI) string { return "" }

func (l proxyLinks) Part(u uri.URI, number string) string {
	return l.absolute(l.liveLinks.Part(u, number))
}

func (l proxyLinks) Sorted(column string, number int) string {
	return l.absolute(l.liveLinks.Sorted(column, number))
}

func (l proxyLinks) Query(u uri.URI) (action string, hidden []render.Field, ok bool) {
	action, hidden, ok = l.liveLinks.Query(u)
	return l.absolute(action), hidden, ok
}

// isUntyped reports whether the client has removed the type of the item from a
// gopher URL. w3m requests gopher://host/dir for gopher://host/1/dir.
func isUntyped(r *http.Request, u uri.URI) bool {
	return strings.HasPrefix(u.Scheme(), "gopher") && strings.HasPrefix(r.UserAgent(), "w3m/")
}

// withType inserts an item type into a gopher URL. It guesses the type from the
// name of the item.
func withType(u uri.URI) uri.URI {
	itemType := "1"
	if media.ByName(u.Path()) != "" {
		itemType = "9" // a file, whose media type is detected
	}
	typed, err := u.WithPath("/" + itemType + u.Path())
	if err != nil {
		return u
	}
	return typed
}
