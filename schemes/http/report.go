package http

import (
	"net"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/http1"
)

// A headTrace collects the header fields that net/http sends in an HTTP/2
// request, and reports them to a Trace.
type headTrace struct {
	trace  *trace.Trace
	fields fetch.Header // includes pseudo-header fields such as :method
}

func (h *headTrace) add(name string, values []string) {
	if h.trace == nil || h.trace.Connection == nil && h.trace.RequestHead == nil {
		return
	}
	for _, value := range values {
		h.fields = append(h.fields, fetch.Field{Name: name, Value: value})
	}
}

// report passes the collected fields to the Trace twice: one by one as they are
// sent over HTTP/2, and then together as an HTTP/1 head.
func (h *headTrace) report() {
	if len(h.fields) == 0 {
		return
	}
	h.trace.Connectionf("using HTTP/2")
	rest := h.fields.Without(func(name string) bool { return strings.HasPrefix(name, ":") })
	for _, f := range h.fields {
		value := f.Value
		if http1.IsSecretField(f.Name) && f.Name != ":authority" {
			value = "***"
		}
		h.trace.Connectionf("[HTTP/2] [%s: %s]", f.Name, value)
	}
	head := []byte(h.fields.Get(":method") + " " + h.fields.Get(":path") + " HTTP/2\r\n")
	head = http1.AppendField(head, "host", h.fields.Get(":authority"))
	for _, f := range rest {
		head = http1.AppendField(head, f.Name, f.Value)
	}
	h.trace.SentHead(string(head) + "\r\n")
	h.fields = nil
}

// reportHTTP2Response passes the head of an HTTP/2 response to the Trace. The
// field names are in lower case, as the server has sent them.
func reportHTTP2Response(t *trace.Trace, x *exchange) {
	if t == nil || t.ResponseHead == nil {
		return
	}
	head := []byte("HTTP/2 " + strconv.Itoa(x.code) + "\r\n")
	for _, f := range x.header {
		head = http1.AppendField(head, strings.ToLower(f.Name), f.Value)
	}
	t.ResponseHead(string(head) + "\r\n")
}

// reportReused reports to the Trace that the request uses an idle connection.
func reportReused(t *trace.Trace, c net.Conn) {
	if t != nil && t.Connection != nil {
		t.Connectionf("Re-using the connection to %v", c.RemoteAddr())
	}
}
