package warc

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/autoindex"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/uri"
)

// respondHTTP parses the HTTP response in body and sets the fields of resp. If
// head is not nil, it replaces the header in body.
func (a *Archive) respondHTTP(req *fetch.Request, resp *fetch.Response, body *replayBody, head []byte) error {
	m := http1.NewReader(body.Reader, 32<<10)
	stored, err := m.ReadHead()
	if err != nil {
		return err
	}
	if head == nil {
		head = stored
	}
	body.Reader = m
	resp.Code, resp.Header = parseHead(head)
	if resp.Code == 0 {
		return fetch.Protocol.Errorf("the record does not contain an HTTP response")
	}
	resp.Head = head
	resp.Proto, _, _ = strings.Cut(string(head), " ")
	resp.Media = resp.Header.Get("Content-Type")
	resp.Time, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	resp.Size = m.Length()
	resp.Body = body
	if a.Raw && !m.Verbatim() {
		body.Reader, body.hash = m.Raw(), nil // the digest is of the body without its transfer coding
		resp.Size, resp.Validator = -1, ""
	}
	switch {
	case resp.Code >= 400:
		resp.Fault = &fetch.Error{Code: resp.Code, Err: statusFault(resp.Code).Errorf("server answered %d", resp.Code)}
	case resp.Code >= 300:
		resp.Location = location(req.URL, resp.Header.Get("Location"))
	}
	return a.decode(req, resp)
}

// statusFault returns the fault for an HTTP status code (RFC 9110 sections 15.5
// and 15.6).
func statusFault(code int) fetch.Fault {
	switch {
	case code == 404 || code == 410:
		return fetch.NotFound
	case code == 401 || code == 407:
		return fetch.Auth
	case code == 408 || code == 425 || code == 429 || code == 500 || 502 <= code && code <= 504:
		return fetch.TryLater
	}
	return fetch.Denied
}

// location resolves the value of a Location field against the URL from. It
// returns the zero URI if the field is empty or invalid.
func location(from uri.URI, text string) uri.URI {
	if text == "" {
		return uri.URI{}
	}
	u, _, err := baseuri.ResolveLocation(from, text)
	if err != nil {
		return uri.URI{}
	}
	return u
}

// decode removes the content codings of a replayed body if Archive.Decode is
// set. It also recognizes listings, except in a body that keeps its codings.
func (a *Archive) decode(req *fetch.Request, resp *fetch.Response) error {
	if list, err := coding.Parse(resp.Header.Values("Content-Encoding")); err != nil || len(list) > 0 {
		if !a.Decode || a.Raw || req.Op == fetch.Stat {
			req.Trace.Notef("the captured body has the content coding %q", resp.Header.Get("Content-Encoding"))
			return nil
		}
		if _, err := coding.Decode(resp, req.Trace); err != nil {
			return err
		}
	}
	buffered := bufio.NewReaderSize(resp.Body, maxPeek)
	if isIndex(req.URL, resp, buffered) {
		resp.Kind = fetch.Menu
	}
	resp.Body = readCloser{buffered, resp.Body}
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// maxPeek is the maximum number of bytes that isIndex examines.
const maxPeek = 64 << 10

// isIndex reports whether the body is a listing, which is a directory index of
// a web server or a sitemap.
func isIndex(u uri.URI, resp *fetch.Response, r *bufio.Reader) bool {
	media, _, _ := mime.ParseMediaType(resp.Media)
	switch {
	case resp.Fault != nil || !resp.Location.IsZero():
	case media == "text/xml" || media == "application/xml":
		start, _ := r.Peek(1 << 10) // Read returns the same error
		start = bytes.ToLower(start)
		return bytes.Contains(start, []byte("<urlset")) || bytes.Contains(start, []byte("<sitemapindex"))
	case media == "text/html" && strings.HasSuffix(u.Path(), "/"):
		start, err := r.Peek(maxPeek)
		listing, _ := autoindex.IsListing(u, start, err != nil)
		return listing
	}
	return false
}
