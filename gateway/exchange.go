package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/uri"
)

// An exchange is a request and its response.
type exchange struct {
	*Handler
	w        http.ResponseWriter
	r        *http.Request
	deadline *deadline
	live     bool              // the content comes from the network, not from an archive
	preview  bool              // the page is displayed in a frame of a listing
	unframed bool              // the content must not be displayed in a frame
	login    *fetch.Credential // the login that the user entered for the server of a live page, or nil
	aborted  bool              // the response is truncated, and the connection must be closed
}

// A target is a parsed request target, without the name of the archive.
type target struct {
	archive *collection
	period  period // requested time of the capture; zero for routes without a timestamp
	form    form
	parameters
	url uri.URI // the archived URL
}

// A form selects how a capture is served.
type form string

const (
	formPage  form = ""    // a page with a banner, for the window of a browser
	formBytes form = "id_" // the archived object, unchanged
	formPlain form = "mp_" // the object with rewritten links and without a banner, for use inside a page
)

// route calls the method that handles the request target. It parses the target
// itself, because http.ServeMux would merge the slashes of the archived URL.
func (x *exchange) route() {
	if x.r.RequestURI == "/robots.txt" {
		x.robotsTxt()
		return
	}
	path, ok := strings.CutPrefix(x.r.RequestURI, x.base+"/")
	if !ok {
		if x.r.RequestURI == x.base { // possible only if base is not empty
			x.redirect(x.base + "/")
			return
		}
		x.notFound()
		return
	}
	if query, ok := strings.CutPrefix(path, "?"); ok && x.searchFromHome(query) {
		return
	}
	rest, ok := strings.CutPrefix(path, "archive/")
	if x.gate != nil && x.routeGate(path) {
		return
	}
	switch {
	case path == "" || path[0] == '?':
		x.home("")
		return
	case path == "style.css":
		x.styleSheet()
		return
	case path == "favicon.ico": // browsers request it for every page
		x.w.WriteHeader(http.StatusNoContent)
		return
	case !ok:
		x.notFound()
		return
	}
	name, rest, slash := strings.Cut(rest, "/")
	bare, _, _ := strings.Cut(name, "?")
	archive := x.archiveNamed(bare)
	switch {
	case archive == nil:
		x.fail(http.StatusNotFound, "There is no such archive", "The first page lists the archives of this server.")
	case !slash:
		x.redirect(archive.path)
	case rest == "" || rest[0] == '?':
		x.overview(archive)
	default:
		x.routeURL(archive, rest)
	}
}

// archiveNamed returns the archive whose percent-encoded name is text, or nil.
func (h *Handler) archiveNamed(text string) *collection {
	name, err := url.PathUnescape(text)
	for _, a := range h.archives {
		if err == nil && a.Name == name {
			return a
		}
	}
	return nil
}

// selector matches the path segment that selects a capture: the timestamp, the
// form and parameters.
var selector = lazy.Regexp(`^([0-9]{4,14})(id_|mp_)?((?:;[^;]*)*)$`)

// routeURL calls the method that handles a route with an archived URL.
func (x *exchange) routeURL(archive *collection, rest string) {
	t := target{archive: archive}
	segment, text, _ := strings.Cut(rest, "/")
	if segment == "timemap" {
		var format string
		format, text, _ = strings.Cut(text, "/")
		segment += "/" + format
	}
	handle := x.capture
	digits, list := strings.CutSuffix(segment, "*")
	older, newer, _ := strings.Cut(segment, "-")
	m := selector().FindStringSubmatch(segment)
	switch {
	case segment == "*":
		handle = x.captures
	case list && dateDigits().MatchString(digits):
		var ok bool
		if t.period, ok = parsePeriod(digits); !ok {
			x.failDate()
			return
		}
		handle = x.captures
	case isTimestamp(older) && isTimestamp(newer):
		handle = func(t target) { x.compare(t, older, newer) }
	case segment == "timegate":
		handle = x.timeGate
	case segment == "timemap/link":
		handle = x.timeMap
	case m != nil:
		var ok bool
		if t.period, ok = parsePeriod(m[1]); !ok {
			x.failDate()
			return
		}
		if t.parameters, ok = parseParameters(m[3]); !ok {
			x.notFound()
			return
		}
		t.form = form(m[2])
	default:
		x.notFound()
		return
	}
	u, err := baseuri.ParseAbsolute(text)
	if err != nil {
		x.fail(http.StatusBadRequest, "The URL is invalid", err.Error())
		return
	}
	t.url = u.WithoutFragment()
	handle(t)
}

func (x *exchange) failDate() {
	x.fail(http.StatusBadRequest, "The date is invalid", "A date has 4 to 14 digits: YYYYMMDDhhmmss.")
}

// dateDigits matches the digits of a date, which can be incomplete.
var dateDigits = lazy.Regexp(`^[0-9]{4,14}$`)

func isTimestamp(text string) bool {
	_, ok := parseTimestamp(text)
	return ok
}

// A period is the time interval that a timestamp selects. A timestamp with
// fewer digits selects a longer interval.
type period struct{ first, last time.Time }

// parsePeriod parses a timestamp of 4 to 14 digits. If the number of digits is
// odd, it ignores the last digit.
func parsePeriod(digits string) (p period, ok bool) {
	digits = digits[:len(digits)&^1]
	first, err := time.Parse("20060102150405"[:len(digits)], digits)
	if err != nil {
		return p, false
	}
	next := first
	switch len(digits) {
	case 4:
		next = first.AddDate(1, 0, 0)
	case 6:
		next = first.AddDate(0, 1, 0)
	case 8:
		next = first.AddDate(0, 0, 1)
	case 10:
		next = first.Add(time.Hour)
	case 12:
		next = first.Add(time.Minute)
	default:
		next = first.Add(time.Second)
	}
	return period{first, next.Add(-time.Second)}, true
}

// distance returns the time between t and the period, or 0 if the period
// contains t.
func (p period) distance(t time.Time) time.Duration {
	switch {
	case t.Before(p.first):
		return p.first.Sub(t)
	case t.After(p.last):
		return t.Sub(p.last)
	}
	return 0
}

// pathOf returns the path of a capture of u.
func (c *collection) pathOf(timestamp string, f form, u uri.URI) string {
	return c.path + timestamp + string(f) + "/" + u.Unredacted()
}

// partOf returns the path of a capture of u for use in an archived page. The
// token in the path shows that a page of the archive c contains the link.
func (h *Handler) partOf(c *collection, timestamp string, u uri.URI) string {
	return c.pathOf(timestamp, formPlain+form(";key="+h.key.Token(guard.PartToken(c.path))), u)
}

// isForeignPart reports whether a page of another site requests a capture as an
// image, a script or another part. Archived pages have an origin of their own,
// so only the token in the path distinguishes their requests.
func (x *exchange) isForeignPart(t target) bool {
	switch guard.OriginOf(x.r.Method, x.r.Host, x.r.Header) {
	case guard.Own, guard.Navigation:
		return false
	}
	return guard.IsPart(x.r.Header) && !x.key.ValidToken(guard.PartToken(t.archive.path), t.key)
}

// admitsWork reports whether the request may start a search or a comparison. If it
// comes from a page of another site, admitsWork sends an error. Such a page could
// find out from the duration of a search whether the texts of the archive contain a
// word, and could occupy all searches. On a public server, everybody can search.
func (x *exchange) admitsWork() bool {
	switch guard.OriginOf(x.r.Method, x.r.Host, x.r.Header) {
	case guard.Own, guard.Navigation:
		return true
	}
	if x.public == nil {
		x.refuseOrigin()
	}
	return x.public != nil
}

// resourcePolicy is the name of a header field. With this field, browsers refuse
// the response to pages of other sites that request it as an image, a script or
// another part. Over plain http, browsers send no Sec-Fetch fields, except to
// loopback addresses. Responses to content in the sandbox must not have the
// field, because the origin of this content differs too.
const resourcePolicy = "Cross-Origin-Resource-Policy"

// forbidParts sets resourcePolicy unless an archived page contains the link.
func (x *exchange) forbidParts(t target) {
	if !x.key.ValidToken(guard.PartToken(t.archive.path), t.key) {
		x.w.Header().Set(resourcePolicy, "same-origin")
	}
}

// redirect sends the client to another path of this server.
func (x *exchange) redirect(path string) {
	x.w.Header().Set("Location", path)
	x.w.WriteHeader(http.StatusFound)
}
