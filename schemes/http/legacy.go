package http

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// Legacy contains options for servers that do not comply with HTTP/1.1. If any
// field is set, each request uses HTTP/1 on a new connection. The Trace reports
// each deviation from the standard.
type Legacy struct {
	HTTP10       bool // send HTTP/1.0 requests
	HTTP09       bool // accept a response without a status line as the body (HTTP/0.9)
	Tolerant     bool // accept malformed response heads that old servers send
	IgnoreLength bool // ignore Content-Length: the body ends when the connection is closed
	Raw          bool // do not decode transfer codings
}

// appendHead appends the request line and the header fields to b. It returns
// the extended buffer.
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

// sorted returns the fields of h in the order in which they are sent.
// User-Agent comes first, and the other fields are sorted by name.
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
