package http

import (
	"errors"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// errObjectChanged means that a partial response belongs to another version of
// the object. The driver then requests the complete object.
var errObjectChanged = errors.New("object has changed on the server")

// rangeField returns the value of a Range header field for r (RFC 9110 14.2).
func rangeField(r fetch.Range) string {
	switch {
	case r.First < 0:
		return "bytes=" + strconv.FormatInt(r.First, 10)
	case r.End <= 0:
		return "bytes=" + strconv.FormatInt(r.First, 10) + "-"
	}
	return "bytes=" + strconv.FormatInt(r.First, 10) + "-" + strconv.FormatInt(r.End-1, 10)
}

// A contentRange is a parsed Content-Range field. It contains the offset of the
// first byte, the offset after the last byte, and the size of the object.
// Unknown values are -1.
type contentRange struct{ first, end, total int64 }

// parseContentRange parses a Content-Range field (RFC 9110 14.4). In a response
// with status 416, the unit "bytes" may be missing. An empty range is valid
// only at the end of the object.
func parseContentRange(s string) (contentRange, bool) {
	s = strings.TrimSpace(s)
	const unit = "bytes"
	named := len(s) > len(unit) && strings.EqualFold(s[:len(unit)], unit)
	if named {
		s = strings.TrimLeft(s[len(unit):], " =:")
	}
	part, size, ok := strings.Cut(s, "/")
	if !ok || !named && part != "*" {
		return contentRange{}, false
	}
	out := contentRange{-1, -1, -1}
	if size != "*" {
		if out.total, ok = parseByteCount(size); !ok {
			return contentRange{}, false
		}
	}
	if part == "*" {
		return out, out.total >= 0
	}
	first, last, _ := strings.Cut(part, "-")
	if out.first, ok = parseByteCount(first); !ok {
		return contentRange{}, false
	}
	if out.end, ok = parseByteCount(last); !ok {
		return contentRange{}, false
	}
	out.end++
	if out.end <= out.first {
		return out, out.end == out.first && out.first == out.total
	}
	return out, out.total < 0 || out.end <= out.total
}

// parseByteCount parses a decimal number below 2^62. The limit prevents
// overflow in sums.
func parseByteCount(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return int64(n), err == nil
}

// partial processes a response with status 206. It returns an error if the
// response does not contain the requested range. If the caller appended a part
// from another offset, the object would be corrupt.
func (r *responseBuilder) partial() error {
	part, ok := parseContentRange(r.header.Get("Content-Range"))
	if r.wire.callerRange {
		r.out.Size = -1
		if ok && part.first >= 0 {
			r.out.Offset = part.first
		}
		return nil
	}
	want := r.req.Range
	switch {
	case !r.wire.hasRange:
		return fetch.Protocol.Errorf("status 206 for a request without Range")
	case !r.sameObject():
		return errObjectChanged
	case !ok || part.first < 0:
		return fetch.Protocol.Errorf("status 206 without a Content-Range for one part")
	case want.First < 0:
		if part.total >= 0 && part.first != max(part.total+want.First, 0) {
			return fetch.Protocol.Errorf("status 206 for bytes %d-%d instead of the last %d bytes",
				part.first, part.end-1, -want.First)
		}
	case part.first != want.First || want.End > 0 && part.end > want.End:
		return fetch.Protocol.Errorf("status 206 for bytes %d-%d instead of %s", part.first, part.end-1, rangeField(want))
	}
	if n := r.length; n >= 0 && n != part.end-part.first {
		return fetch.Protocol.Errorf("status 206 for %d bytes with a Content-Length of %d", part.end-part.first, n)
	}
	r.out.Offset, r.out.Size = part.first, part.total
	r.out.Validator = r.validator()
	if part.first == part.end {
		r.discardBody()
	}
	return nil
}

// unsatisfied processes a response with status 416. If the requested range
// starts at the end of the object, the caller already has the complete object.
// In this case the response has an empty body.
func (r *responseBuilder) unsatisfied() error {
	part, ok := parseContentRange(r.header.Get("Content-Range"))
	first := r.req.Range.First
	switch {
	case ok && r.sameObject() && (part.total == first || part.total == 0 && first < 0):
		r.out.Size, r.out.Offset = part.total, part.total
		r.out.Validator = r.validator()
		r.discardBody()
	case r.req.IfSame != "":
		return errObjectChanged
	default:
		r.out.Fault = statusError(r.code, r.header, r.now)
	}
	return nil
}

// sameObject reports whether the response may belong to the version of the
// object that Request.IfSame identifies. Servers without support for If-Range
// may send a part of another version.
func (r *responseBuilder) sameObject() bool {
	name := "Last-Modified"
	if isTag(r.req.IfSame) {
		name = "ETag"
	}
	now := r.header.Get(name)
	return r.req.IfSame == "" || now == "" || now == r.req.IfSame
}

// validator returns the value for a later If-Range field, or "" (RFC 9110
// 13.1.5).
func (r *responseBuilder) validator() string { return http1.Validator(r.header.Get, parseTime) }
