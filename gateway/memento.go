package gateway

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// absolute returns the absolute URL of a path of this server. Its host is that
// of the request, which ServeHTTP has checked.
func (x *exchange) absolute(path string) string {
	scheme := "http"
	if x.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host + path
}

// setMementoHeader sets the header fields of a memento (RFC 7089 section 2.2).
func (x *exchange) setMementoHeader(t target, s selection) {
	at, _ := parseTimestamp(s.chosen)
	x.w.Header().Set("Memento-Datetime", at.Format(http.TimeFormat))
	x.w.Header().Set("Link", x.links(t, s))
}

// links returns the value of the header field Link for a memento or a TimeGate
// (RFC 7089 section 2.2.5).
func (x *exchange) links(t target, s selection) string {
	links := []string{
		link(t.url.Unredacted(), "original"),
		link(x.absolute(t.archive.path+"timegate/"+t.url.Unredacted()), "timegate"),
		link(x.absolute(t.archive.path+"timemap/link/"+t.url.Unredacted()), "timemap") + `; type="application/link-format"`,
	}
	relations := map[string]string{}
	var order []string
	for _, c := range [][2]string{
		{"first", s.first}, {"prev", s.previous}, {"next", s.next}, {"last", s.last}, {"", s.chosen},
	} {
		if c[1] == "" {
			continue
		}
		if !slices.Contains(order, c[1]) {
			order = append(order, c[1])
		}
		if c[0] != "" {
			relations[c[1]] += c[0] + " "
		}
	}
	for _, timestamp := range order {
		links = append(links, x.mementoLink(t, timestamp, relations[timestamp]+"memento"))
	}
	return strings.Join(links, ", ")
}

func (x *exchange) mementoLink(t target, timestamp, relation string) string {
	at, _ := parseTimestamp(timestamp)
	url := x.absolute(t.archive.pathOf(timestamp, t.form, t.url))
	return link(url, relation) + `; datetime="` + at.Format(http.TimeFormat) + `"`
}

// link returns a link value (RFC 8288 section 3). It does not escape the URI,
// because a URI contains no ">".
func link(url, relation string) string { return "<" + url + `>; rel="` + relation + `"` }

// timeGate redirects to the capture that is nearest to the date in the header
// field Accept-Datetime (RFC 7089 section 4.1), or to the latest capture.
func (x *exchange) timeGate(t target) {
	x.w.Header().Set("Vary", "accept-datetime")
	var p period
	if text := x.r.Header.Get("Accept-Datetime"); text != "" {
		at, err := time.Parse(http.TimeFormat, text)
		if err != nil {
			x.fail(http.StatusBadRequest, "The date is invalid", "Accept-Datetime has the form Sun, 22 Nov 2026 09:00:00 GMT.")
			return
		}
		p = period{at, at}
	}
	s, err := t.archive.choose(x.r.Context(), t.url, p)
	if err != nil || s.chosen == "" {
		x.missing(t, err)
		return
	}
	x.w.Header().Set("Link", x.links(t, s))
	x.redirect(t.archive.pathOf(s.chosen, formPage, t.url))
}

// timeMap lists the captures of a URL (RFC 7089 section 5).
func (x *exchange) timeMap(t target) {
	s, err := t.archive.choose(x.r.Context(), t.url, period{})
	if err != nil || s.chosen == "" {
		x.missing(t, err)
		return
	}
	first, _ := parseTimestamp(s.first)
	last, _ := parseTimestamp(s.last)
	x.w.Header().Set("Content-Type", "application/link-format")
	fmt.Fprintf(x.w, "%s,\n%s; type=\"application/link-format\"; from=\"%s\"; until=\"%s\",\n%s",
		link(t.url.Unredacted(), "original"),
		link(x.absolute(t.archive.path+"timemap/link/"+t.url.Unredacted()), "self"),
		first.Format(http.TimeFormat), last.Format(http.TimeFormat),
		link(x.absolute(t.archive.path+"timegate/"+t.url.Unredacted()), "timegate"))
	before := ""
	for l, err := range t.archive.lines(x.r.Context(), t.url) {
		if err != nil {
			x.abort()
			return
		}
		if l.Timestamp == before {
			continue
		}
		before = l.Timestamp
		relation := "memento"
		if l.Timestamp == s.last {
			relation = "last memento"
		}
		if l.Timestamp == s.first {
			relation = "first " + relation
		}
		if _, err := io.WriteString(x.w, ",\n"+x.mementoLink(t, l.Timestamp, relation)); err != nil {
			return
		}
	}
	io.WriteString(x.w, "\n") // the next write would return the same error
}

// abort sends the buffered bytes and makes ServeHTTP close the connection, so
// that the client notices a truncated response. The caller must return.
func (x *exchange) abort() {
	http.NewResponseController(x.w).Flush() // an error means that the client has closed the connection
	x.aborted = true
}
