package http

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// errOther says that a part is not of the object that was asked for: it is
// asked for again, whole.
var errObjectChanged = errors.New("part of another object")

// rangeField is Range for one part: RFC 9110 14.2.
func rangeField(r fetch.Range) string {
	switch {
	case r.First < 0:
		return "bytes=" + strconv.FormatInt(r.First, 10)
	case r.End <= 0:
		return "bytes=" + strconv.FormatInt(r.First, 10) + "-"
	}
	return "bytes=" + strconv.FormatInt(r.First, 10) + "-" + strconv.FormatInt(r.End-1, 10)
}

// A span is what Content-Range says: bytes first up to but not including end,
// of total. Where it says "*", total or first is -1.
type contentRange struct{ first, end, total int64 }

// parseSpan reads a Content-Range: RFC 9110 14.4. Some servers leave out the
// unit where no part of the object is sent. A range that ends before its first
// byte is empty; it counts only at the end of the object.
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

// digits reads a number of bytes that can be counted on from.
func parseByteCount(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return int64(n), err == nil
}

// partial is a 206. It must be the part that was asked for: glued on at
// another place it would make a third object.
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
		return fetch.Protocol.Errorf("206 without a Range")
	case !r.sameObject():
		return errObjectChanged
	case !ok || part.first < 0:
		return fetch.Protocol.Errorf("206 without a Content-Range of one part")
	case want.First < 0:
		if part.total >= 0 && part.first != max(part.total+want.First, 0) {
			return fetch.Protocol.Errorf("206 for bytes %d-%d, not the last %d", part.first, part.end-1, -want.First)
		}
	case part.first != want.First || want.End > 0 && part.end > want.End:
		return fetch.Protocol.Errorf("206 for bytes %d-%d, not %s", part.first, part.end-1, rangeField(want))
	}
	if n := r.length; n >= 0 && n != part.end-part.first {
		return fetch.Protocol.Errorf("206 for %d bytes with a Content-Length of %d", part.end-part.first, n)
	}
	r.out.Offset, r.out.Size = part.first, part.total
	r.out.Validator = r.validator()
	if part.first == part.end {
		r.discardBody()
	}
	return nil
}

// unsatisfied is a 416: nothing of the object lies in the range. Where it
// ends just before, all of it is there already.
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

// same reports whether the response denies, by another validator, to be of
// the object of IfSame. Servers that know no If-Range serve any part.
func (r *responseBuilder) sameObject() bool {
	name := "Last-Modified"
	if isTag(r.req.IfSame) {
		name = "ETag"
	}
	now := r.header.Get(name)
	return r.req.IfSame == "" || now == "" || now == r.req.IfSame
}

// validator is what If-Range takes (RFC 9110 13.1.5): a strong entity tag, or
// a date that is strong because it lies a minute behind that of the response
// (8.8.2.2).
func (r *responseBuilder) validator() string {
	h := r.header
	if tag := h.Get("ETag"); len(tag) > 2 && tag[0] == '"' && tag[len(tag)-1] == '"' && !strings.ContainsAny(tag, " \t") {
		return tag
	}
	changed, err := parseTime(h.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	sent, err := parseTime(h.Get("Date"))
	if err != nil || sent.Sub(changed) < time.Minute {
		return ""
	}
	return h.Get("Last-Modified")
}
