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
var errOther = errors.New("part of another object")

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
type span struct{ first, end, total int64 }

// parseSpan reads a Content-Range: RFC 9110 14.4. Some servers leave out the
// unit where no part of the object is sent. A range that ends before its first
// byte is empty; it counts only at the end of the object.
func parseSpan(s string) (span, bool) {
	s = strings.TrimSpace(s)
	const unit = "bytes"
	named := len(s) > len(unit) && strings.EqualFold(s[:len(unit)], unit)
	if named {
		s = strings.TrimLeft(s[len(unit):], " =:")
	}
	part, size, ok := strings.Cut(s, "/")
	if !ok || !named && part != "*" {
		return span{}, false
	}
	out := span{-1, -1, -1}
	if size != "*" {
		if out.total, ok = digits(size); !ok {
			return span{}, false
		}
	}
	if part == "*" {
		return out, out.total >= 0
	}
	first, last, _ := strings.Cut(part, "-")
	if out.first, ok = digits(first); !ok {
		return span{}, false
	}
	if out.end, ok = digits(last); !ok {
		return span{}, false
	}
	out.end++
	if out.end <= out.first {
		return out, out.end == out.first && out.first == out.total
	}
	return out, out.total < 0 || out.end <= out.total
}

// digits reads a number of bytes that can be counted on from.
func digits(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return int64(n), err == nil
}

// partial is a 206. It must be the part that was asked for: glued on at
// another place it would make a third object.
func (r *reply) partial() error {
	got, ok := parseSpan(r.header.Get("Content-Range"))
	if r.ask.any {
		r.out.Size = -1
		if ok && got.first >= 0 {
			r.out.Offset = got.first
		}
		return nil
	}
	want := r.req.Range
	switch {
	case !r.ask.ranged:
		return fetch.Protocol.Errorf("206 without a Range")
	case !r.same():
		return errOther
	case !ok || got.first < 0:
		return fetch.Protocol.Errorf("206 without a Content-Range of one part")
	case want.First < 0:
		if got.total >= 0 && got.first != max(got.total+want.First, 0) {
			return fetch.Protocol.Errorf("206 for bytes %d-%d, not the last %d", got.first, got.end-1, -want.First)
		}
	case got.first != want.First || want.End > 0 && got.end > want.End:
		return fetch.Protocol.Errorf("206 for bytes %d-%d, not %s", got.first, got.end-1, rangeField(want))
	}
	if n := r.length; n >= 0 && n != got.end-got.first {
		return fetch.Protocol.Errorf("206 for %d bytes with a Content-Length of %d", got.end-got.first, n)
	}
	r.out.Offset, r.out.Size = got.first, got.total
	r.out.Validator = r.validator()
	if got.first == got.end {
		r.empty()
	}
	return nil
}

// unsatisfied is a 416: nothing of the object lies in the range. Where it
// ends just before, all of it is there already.
func (r *reply) unsatisfied() error {
	got, ok := parseSpan(r.header.Get("Content-Range"))
	first := r.req.Range.First
	switch {
	case ok && r.same() && (got.total == first || got.total == 0 && first < 0):
		r.out.Size, r.out.Offset = got.total, got.total
		r.out.Validator = r.validator()
		r.empty()
	case r.req.IfSame != "":
		return errOther
	default:
		r.out.Fault = statusError(r.code, r.header, r.now)
	}
	return nil
}

// same reports whether the response denies, by another validator, to be of
// the object of IfSame. Servers that know no If-Range serve any part.
func (r *reply) same() bool {
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
func (r *reply) validator() string {
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
