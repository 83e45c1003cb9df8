package http

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// A headTrace collects the header fields of an HTTP/2 or HTTP/3 request, and
// reports them to a Trace.
type headTrace struct {
	trace  *trace.Trace
	proto  string       // such as "HTTP/2"
	fields fetch.Header // includes pseudo-header fields such as :method
}

func (h *headTrace) add(name string, values []string) {
	if t := h.trace; t == nil || t.Connection == nil && t.RequestHead == nil && t.Sent == nil {
		return
	}
	for _, value := range values {
		h.fields = append(h.fields, fetch.Field{Name: name, Value: value})
	}
}

// report passes the collected fields to the Trace: one by one as they are sent,
// then together as an HTTP/1 head, and as an HTTP/1.1 request.
func (h *headTrace) report() {
	if len(h.fields) == 0 {
		return
	}
	h.trace.Connectionf("using %s", h.proto)
	rest := h.fields.Without(func(name string) bool { return strings.HasPrefix(name, ":") })
	for _, f := range h.fields {
		value := f.Value
		if http1.IsSecretField(f.Name) && f.Name != ":authority" {
			value = "***"
		}
		h.trace.Connectionf("[%s] [%s: %s]", h.proto, f.Name, value)
	}
	line := h.fields.Get(":method") + " " + h.fields.Get(":path")
	fields := http1.AppendField(nil, "host", h.fields.Get(":authority"))
	for _, f := range rest {
		fields = http1.AppendField(fields, f.Name, f.Value)
	}
	fields = append(fields, "\r\n"...)
	h.trace.SentHead(line + " " + h.proto + "\r\n" + string(fields))
	if h.trace.Sent != nil {
		h.trace.Sent(append([]byte(line+" HTTP/1.1\r\n"), fields...))
	}
	h.fields = nil
}

// reportResponse passes the head of an HTTP/2 or HTTP/3 response to the Trace, also
// as the head of an HTTP/1.1 response. The field names are in lower case, as the
// server has sent them.
func reportResponse(t *trace.Trace, x *exchange) {
	if t == nil || t.ResponseHead == nil && t.Received == nil {
		return
	}
	code := strconv.Itoa(x.code)
	var all, framed []byte
	for _, f := range x.header {
		name := strings.ToLower(f.Name)
		all = http1.AppendField(all, name, f.Value)
		if !slices.Contains(connectionFields[:], name) {
			framed = http1.AppendField(framed, name, f.Value)
		}
	}
	t.ReceivedHead(x.proto + " " + code + "\r\n" + string(all) + "\r\n")
	if t.Received != nil {
		t.Received([]byte("HTTP/1.1 " + code + " " + http.StatusText(x.code) + "\r\n" + string(framed) + "\r\n"))
	}
}

// connectionFields lists the fields that an HTTP/2 message must not have (RFC
// 9113 section 8.2.2). In an HTTP/1.1 message they would describe a framing that
// the body does not have.
var connectionFields = [...]string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}

// reportReused reports to the Trace that the request uses an idle connection.
func reportReused(t *trace.Trace, c net.Conn) {
	if t != nil && t.Connection != nil {
		t.Connectionf("Re-using the connection to %v", c.RemoteAddr())
	}
}
