package gateway

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/internal/base/media"
)

// requestedRange returns the range of bytes that the client requests. The result
// ok is false for a request without a valid range.
func (x *exchange) requestedRange() (r fetch.Range, ok bool) {
	if x.r.Method != http.MethodGet {
		return r, false
	}
	return web.ParseRange(x.r.Header.Get("Range"))
}

// bounds returns the offsets of the bytes of an object that the client receives,
// and the status code. If the server of a live page has sent the complete object
// instead of a range, the client receives the complete object too.
func (x *exchange) bounds(resp *fetch.Response) (first, end int64, code int) {
	code = status(resp)
	if code != http.StatusOK || resp.Size <= 0 {
		return 0, resp.Size, code
	}
	want, ok := x.requestedRange()
	condition := x.r.Header.Get("If-Range")
	if !ok || condition != "" && condition != x.w.Header().Get("Last-Modified") {
		return 0, resp.Size, code
	}
	first, end, ok = want.Bounds(resp.Size)
	switch {
	case !ok:
		return 0, resp.Size, http.StatusRequestedRangeNotSatisfiable
	case x.live && first != resp.Offset:
		return 0, resp.Size, code
	}
	return first, end, http.StatusPartialContent
}

// setRangeHeader sets the header fields of a response with the bytes of an
// object from the offset first to the offset end.
func (x *exchange) setRangeHeader(first, end, size int64, code int) {
	h := x.w.Header()
	total := strconv.FormatInt(size, 10)
	switch {
	case code == http.StatusRequestedRangeNotSatisfiable:
		h.Set("Content-Range", "bytes */"+total)
		end = first
	case code == http.StatusPartialContent:
		h.Set("Content-Range", "bytes "+strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(end-1, 10)+"/"+total)
	}
	if size >= 0 {
		h.Set("Content-Length", strconv.FormatInt(end-first, 10))
	}
	if size >= 0 && !x.live {
		h.Set("Accept-Ranges", "bytes")
	}
}

// skip reads and discards n bytes of a body. They count toward the bytes of the
// client, so that ranges at the end of an object are not cheaper than the
// complete object.
func (x *exchange) skip(body io.Reader, n int64) error {
	out := io.Discard
	if w, ok := x.w.(*limitedWriter); ok {
		out = &limitedWriter{discardedResponse{}, w.ctx, w.use}
	}
	_, err := io.CopyN(out, body, n)
	return err
}

// A discardedResponse is a response whose bytes are not sent.
type discardedResponse struct{ http.ResponseWriter }

func (discardedResponse) Write(p []byte) (int, error) { return len(p), nil }

// retrieveRange requests the object of a live page. It passes the requested
// range to the server if the client receives the bytes of the object. If the
// result is not a range of known size, it requests the complete object.
func (x *exchange) retrieveRange(
	t liveTarget, scheme fetch.Scheme, req *fetch.Request, p guard.Permission, personal bool,
) (*fetch.Response, error) {
	want, ok := x.requestedRange()
	if !ok || want.IsZero() || t.part != "" || !t.raw && !t.inline || x.r.Header.Get("If-Range") != "" {
		return x.gate.retrieve(x.r.Context(), scheme, req, p, personal)
	}
	part := req.Clone()
	part.Range = want
	resp, err := x.gate.retrieve(x.r.Context(), scheme, part, p, personal)
	if err == nil {
		first, _, ok := want.Bounds(resp.Size)
		if ok && resp.Size > 0 && resp.Offset == first && resp.Fault == nil && resp.Location.IsZero() && (t.raw || isStreamed(resp.Media)) {
			return resp, nil
		}
		resp.Body.Close()
	} else if !errors.Is(err, fetch.Denied) { // servers deny a range outside the object
		return nil, err
	}
	return x.gate.retrieve(x.r.Context(), scheme, req, p, personal)
}

// isStreamed reports whether browsers request ranges of objects of a media type.
func isStreamed(mediaType string) bool {
	top, _, _ := strings.Cut(media.TrimParameters(mediaType), "/")
	return top == "audio" || top == "video"
}
