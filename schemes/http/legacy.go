package http

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
)

// Old selects deviations from HTTP/1.1. Each deviation that a response has is
// noted in the Trace. If any field is set, requests use HTTP/1 and one
// connection each.
type Legacy struct {
	HTTP10       bool // send requests of HTTP/1.0
	HTTP09       bool // accept a reply without a head as the object: HTTP/0.9
	Tolerant     bool // accept heads of old servers that RFC 9112 rejects
	IgnoreLength bool // the body ends with the connection, whatever Content-Length says
	Raw          bool // keep transfer codings
}

// appendHead appends the head of the request.
func (wr *wireRequest) appendHead(b []byte, via *proxyRoute, o Legacy) []byte {
	b = append(append(b, wr.method...), ' ')
	h := wr.header
	if via != nil {
		b = append(b, via.urlPrefix...)
		h = append(h[:len(h):len(h)], via.fields(wr)...)
	}
	b = append(append(b, wr.path...), wr.query...)
	switch {
	case o.HTTP10:
		b = append(b, " HTTP/1.0\r\nHost: "...)
	default:
		b = append(b, " HTTP/1.1\r\nHost: "...)
	}
	b = append(append(b, wr.host...), "\r\n"...)
	if o != (Legacy{}) && !o.HTTP10 && !hasField(h, "Connection") {
		h = append(h[:len(h):len(h)], fetch.Field{Name: "Connection", Value: "close"})
	}
	for _, f := range sorted(h) {
		if f.Value != "" || !f.Is("User-Agent") {
			b = http1.AppendField(b, f.Name, http1.Trim(f.Value))
		}
	}
	return append(b, "\r\n"...)
}

// sorted returns h in the order of the request: User-Agent, then by name.
func sorted(h fetch.Header) fetch.Header {
	if slices.IsSortedFunc(h, inOrder) {
		return h
	}
	h = slices.Clone(h)
	slices.SortStableFunc(h, inOrder)
	return h
}

func inOrder(a, b fetch.Field) int {
	if first := a.Is("User-Agent"); first != b.Is("User-Agent") {
		if first {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}
