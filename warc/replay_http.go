package warc

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/autoindex"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
)

// respondHTTP parses the HTTP response in body and sets the fields of resp. If
// head is not nil, it replaces the header in body.
func (a *Archive) respondHTTP(req *fetch.Request, resp *fetch.Response, body *replayBody, head []byte) error {
	m := http1.NewReader(body.Reader, 8<<10)
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
	if body.hash != nil && !m.Verbatim() { // several programs compute the digest over the chunks
		body.stored = body.algorithm.hash()
		m.CopyStored(body.stored)
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
// set. Except in a body that keeps its codings, it also recognizes listings and
// the media type of a body without a Content-Type field.
func (a *Archive) decode(req *fetch.Request, resp *fetch.Response) error {
	if list, err := coding.Parse(resp.Header.Values("Content-Encoding")); err != nil || len(list) > 0 {
		if !a.Decode || a.Raw || req.Op == fetch.Stat {
			req.Trace.Notef("the captured body has the content coding %q", resp.Header.Get("Content-Encoding"))
			return nil
		}
		if _, err := coding.DecodeStored(resp, req.Trace); err != nil {
			return err
		}
	}
	if recognizeIndex(req.URL, resp) {
		resp.Kind = fetch.Menu
	}
	if resp.Media == "" && !a.Raw && req.Op == fetch.Get && resp.Fault == nil && resp.Location.IsZero() {
		start, _ := peek(resp, media.SniffLen)
		resp.Media = media.Sniff(start)
	}
	return nil
}

// peek returns the next n bytes of the body of resp without reading them. An
// error is also returned by the next Read of the body.
func peek(resp *fetch.Response, n int) ([]byte, error) {
	r := bufio.NewReaderSize(resp.Body, n)
	resp.Body = readCloser{r, resp.Body}
	return r.Peek(n)
}

type readCloser struct {
	io.Reader
	io.Closer
}

// Maximum numbers of bytes that recognizeIndex examines.
const (
	maxPeekXML  = 1 << 10
	maxPeekHTML = 64 << 10
)

// recognizeIndex reports whether the body is a listing, which is a directory
// index of a web server or a sitemap. It buffers the start of the body.
func recognizeIndex(u uri.URI, resp *fetch.Response) bool {
	bare, _, _ := mime.ParseMediaType(resp.Media)
	switch {
	case resp.Fault != nil || !resp.Location.IsZero():
	case bare == "text/xml" || bare == "application/xml":
		start, _ := peek(resp, maxPeekXML)
		start = bytes.ToLower(start)
		return bytes.Contains(start, []byte("<urlset")) || bytes.Contains(start, []byte("<sitemapindex"))
	case bare == "text/html" && strings.HasSuffix(u.Path(), "/"):
		start, err := peek(resp, maxPeekHTML)
		listing, _ := autoindex.IsListing(u, start, err != nil)
		return listing
	}
	return false
}
