package roundtrip

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// overHTTP reports whether the response was received over HTTP.
func overHTTP(resp *fetch.Response) bool { return strings.HasPrefix(resp.Proto, "HTTP/") }

// status returns the HTTP status code for a response. If the protocol is not
// HTTP, status returns 302 for a redirect and 200 otherwise, because the codes
// of other protocols have other meanings.
func status(resp *fetch.Response) int {
	switch {
	case overHTTP(resp) && resp.Code != 0:
		return resp.Code
	case !resp.Location.IsZero():
		return http.StatusFound
	}
	return http.StatusOK
}

// length returns the length of the body in bytes, or -1 if it is unknown.
func length(req *http.Request, resp *fetch.Response) int64 {
	switch {
	case resp.Unchanged, resp.NoContent():
		return 0
	case !overHTTP(resp):
		if resp.Size < 0 {
			return -1
		}
		return max(resp.Size-resp.Offset, 0)
	case resp.Header.Get("Transfer-Encoding") != "":
		return -1
	case resp.Size < 0 && resp.Code != http.StatusPartialContent && req.Method != http.MethodHead:
		return -1
	}
	n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// header returns the header fields of a response. For protocols other than
// HTTP, it adds Content-Type, Content-Length and Last-Modified if they are
// known.
func header(resp *fetch.Response) http.Header {
	h := http.Header{}
	add(h, resp.Header)
	set := func(name, value string) {
		if value != "" && h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	set("Location", resp.Location.Unredacted())
	if overHTTP(resp) {
		if h.Get("Transfer-Encoding") != "" { // describes the body on the connection, not Body
			h.Del("Content-Length")
		}
		h.Del("Transfer-Encoding")
		h.Del("Trailer")
		return h
	}
	set("Content-Type", resp.Media)
	if resp.Size >= 0 {
		set("Content-Length", strconv.FormatInt(max(resp.Size-resp.Offset, 0), 10))
	}
	if !resp.Time.IsZero() {
		set("Last-Modified", resp.Time.UTC().Format(http.TimeFormat))
	}
	return h
}

// trailer returns a map with the names that the Trailer field announces.
func trailer(resp *fetch.Response) http.Header {
	h := http.Header{}
	for _, names := range resp.Header.Values("Trailer") {
		for name := range strings.SplitSeq(names, ",") {
			h[http.CanonicalHeaderKey(strings.TrimSpace(name))] = nil
		}
	}
	return h
}

func add(h http.Header, fields fetch.Header) {
	for _, f := range fields {
		h.Add(f.Name, f.Value)
	}
}

// A trailerBody is a response body that sets the fields of
// http.Response.Trailer when it reaches its end.
type trailerBody struct {
	io.ReadCloser
	fields func() fetch.Header
	header http.Header
}

// Read reads from the body and stores the trailer fields at the end of the
// body.
func (t *trailerBody) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if err == io.EOF && t.fields != nil {
		add(t.header, t.fields())
		t.fields = nil
	}
	return n, err
}
