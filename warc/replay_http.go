package warc

import (
	"bufio"
	"bytes"
	"errors"
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

// respondHTTP completes resp from an http answer in body: from head or, where
// that is nil, from its own.
func respondHTTP(req *fetch.Request, resp *fetch.Response, body *replayed, head []byte) error {
	m := http1.NewReader(body.Reader, 32<<10)
	own, err := m.ReadHead()
	if err != nil {
		return err
	}
	if head == nil {
		head = own
	}
	body.Reader = m
	resp.Code, resp.Header = parseHead(head)
	if resp.Code == 0 {
		return fetch.Protocol.Errorf("the record holds no http answer")
	}
	resp.Head = head
	resp.Proto, _, _ = strings.Cut(string(head), " ")
	resp.Media = resp.Header.Get("Content-Type")
	resp.Time, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	resp.Size = m.Length()
	resp.Body = body
	switch {
	case resp.Code >= 400:
		resp.Fault = &fetch.Error{Code: resp.Code, Err: statusFault(resp.Code).Errorf("server answered %d", resp.Code)}
	case resp.Code >= 300:
		resp.Location = location(req.URL, resp.Header.Get("Location"))
	}
	return decode(req, resp)
}

// statusFault classes a status (RFC 9110 sections 15.5 and 15.6).
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

// location resolves a Location field; zero where it is none.
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

// decode takes the content codings off; with an unknown one the entity stays as
// it was sent.
func decode(req *fetch.Request, resp *fetch.Response) error {
	list, err := coding.Parse(resp.Header.Values("Content-Encoding"))
	switch {
	case errors.Is(err, fetch.Unsupported):
		req.Trace.Notef("%v: it is not taken off", err)
	case err != nil:
		return err
	case len(list) > 0:
		resp.Body, resp.Size, resp.Validator = coding.NewReader(resp.Body, list, req.Trace), -1, ""
	}
	look := bufio.NewReaderSize(resp.Body, maxLook)
	if isIndex(req.URL, resp, look) {
		resp.Kind = fetch.Menu
	}
	resp.Body = readCloser{look, resp.Body}
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// maxLook is how much of a page is read to find out whether it is a listing.
const maxLook = 64 << 10

// isIndex reports whether the entity is a listing: an index that a server made
// of a directory, or a sitemap.
func isIndex(u uri.URI, resp *fetch.Response, look *bufio.Reader) bool {
	media, _, _ := mime.ParseMediaType(resp.Media)
	switch {
	case resp.Fault != nil || !resp.Location.IsZero():
	case media == "text/xml" || media == "application/xml":
		start, _ := look.Peek(1 << 10) // an error stays for Read
		start = bytes.ToLower(start)
		return bytes.Contains(start, []byte("<urlset")) || bytes.Contains(start, []byte("<sitemapindex"))
	case media == "text/html" && strings.HasSuffix(u.Path(), "/"):
		start, err := look.Peek(maxLook)
		listing, _ := autoindex.IsListing(u, start, err != nil)
		return listing
	}
	return false
}
