package http

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/outgoing"
)

// setOutgoing sets the method, the header and the body of a request that the
// recording proxy passes on. It adds no default fields, because the program that
// made the request has added its own.
func (wr *wireRequest) setOutgoing(req *fetch.Request) error {
	m := req.Outgoing
	if !http1.ValidName(m.Method) || m.Method == http.MethodConnect {
		return fetch.Usage.Errorf("invalid method %q", m.Method)
	}
	wr.method, wr.outgoing = m.Method, m
	wr.header = withBareReferers(req.Header.Without(isFraming))
	if m.Open != nil {
		wr.addField("Content-Length", strconv.FormatInt(m.Size, 10))
	}
	return wr.validate()
}

// isFraming reports whether the driver itself decides about a header field,
// because it depends on the URL or on the connection.
func isFraming(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "transfer-encoding", "trailer", "connection", "upgrade", "te", "keep-alive",
		"proxy-connection", "http2-settings":
		return true
	}
	return false
}

// hasBody reports whether the request has a body.
func (wr *wireRequest) hasBody() bool { return wr.outgoing != nil && wr.outgoing.Open != nil }

// isRepeatable reports whether the request may be sent again after an error.
func (wr *wireRequest) isRepeatable() bool { return wr.outgoing.Repeatable() }

// setBody adds the body to a request of net/http. The package opens it again
// only if the server has not processed the request.
func setBody(r *http.Request, m *outgoing.Message) (err error) {
	r.ContentLength, r.GetBody = m.Size, m.Open
	if m.Size == 0 {
		r.Body = http.NoBody
		return nil
	}
	r.Body, err = m.Open()
	return err
}

// bodyStall is the time in which a server must accept some bytes of a body.
const bodyStall = time.Minute

// writeBody writes the body of a request to an HTTP/1 connection.
func (c *conn) writeBody(m *outgoing.Message) error {
	body, err := m.Open()
	if err != nil {
		return err
	}
	defer body.Close()
	defer c.SetWriteDeadline(time.Time{})
	n, err := io.Copy(stallWriter{c}, io.LimitReader(body, m.Size))
	if err == nil && n < m.Size {
		err = fetch.Internal.Errorf("body of the request is shorter than its size")
	}
	return err
}

// A stallWriter writes to a connection. Each Write has a deadline.
type stallWriter struct{ conn *conn }

func (w stallWriter) Write(p []byte) (int, error) {
	w.conn.SetWriteDeadline(time.Now().Add(bodyStall))
	return w.conn.Write(p)
}

// passOn sets the Location of a redirect and the Fault of an error. It compares
// neither conditions nor ranges, because the program that made the request reads
// the response itself.
func (r *responseBuilder) passOn() error {
	if r.wire.method == http.MethodHead || r.out.Code == http.StatusNotModified {
		r.out.Size = -1 // Content-Length describes a body that the response does not have
	}
	switch code := r.out.Code; {
	case code >= 400:
		r.out.Fault = statusError(r.code, r.header, r.now)
	case code >= 300:
		return r.redirect()
	}
	return nil
}
