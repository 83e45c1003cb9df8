package http

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A pieceConn is a connection that returns at most size bytes per Read.
type pieceConn struct {
	net.Conn
	unread []byte
	size   int
}

func (c *pieceConn) SetReadDeadline(time.Time) error { return nil }
func (c *pieceConn) Close() error                    { return nil }

func (c *pieceConn) Read(p []byte) (int, error) {
	if len(c.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.unread[:min(c.size, len(c.unread))])
	c.unread = c.unread[n:]
	return n, nil
}

// A parsedResponse is the result of reading a response.
type parsedResponse struct {
	head, body, consumed string
	fault                fetch.Fault
	spent                bool
}

// leaseReader returns a reader of c. The connection is not reused.
func leaseReader(c *conn) *reader {
	r := &reader{conn: c, ctx: context.Background()}
	done := make(chan struct{})
	close(done) // the pool closes released connections
	idle := sessions.Pool[*conn]{Done: done}
	idle.Do(r.ctx, "", nil, func() (*conn, error) { return c, nil }, func(l *lease) error {
		r.lease = l
		return nil
	})
	return r
}

func readPieces(data []byte, size, buffer int, head bool) (got parsedResponse, r *reader) {
	c := newConn(&pieceConn{unread: data, size: size}, nil)
	r = leaseReader(c)
	r.noBody = head
	r.got = func(p []byte) { got.consumed += string(p) }
	err := r.response()
	if err == nil {
		var body []byte
		p := make([]byte, buffer)
		for n := 0; err == nil; {
			n, err = r.Read(p)
			body = append(body, p[:n]...)
		}
		if err == io.EOF {
			err = nil
		}
		got.body = string(body)
	}
	got.head, got.fault, got.spent = string(r.head), fetch.FaultOf(err), r.deviated
	return got, r
}

// FuzzReader checks that the result does not depend on the size of the reads. A
// response that net/http accepts is rejected or has the same body and the same
// length. A response that net/http rejects is rejected or has a deviation.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1",
		"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\nmore",
		"HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\nX: y\r\n\r\n5;x\nhello\n0\nA: b\n\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nA\r\n 5:ontent-Length: 5\r\n\r\nhello!",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello!",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000005\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX:\r\n 5\x1b\n\r\nhello",
		"SSH-2.0-x\r\n", "HTTP/1.1 200", "", "HTTP/1.1 204 x\r\n\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nhello",
	} {
		f.Add([]byte(s), 3, 7, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, size, buffer int, head bool) {
		if size < 1 || buffer < 1 || buffer > 1<<16 || len(data) > readBuffer/2 {
			return
		}
		complete, r := readPieces(data, len(data)+1, len(data)+64, head)
		if pieces, _ := readPieces(data, size, buffer, head); pieces != complete {
			t.Fatalf("%q: read as %+v at once, as %+v in pieces", data, complete, pieces)
		}
		if !bytes.HasPrefix(data, []byte(complete.consumed)) {
			t.Errorf("%q: trace %q", data, complete.consumed)
		}
		body, n, ok := netHTTP(data, head)
		switch {
		case complete.fault != 0 || complete.spent || r.status.Code == 101:
		case !ok && (head || r.status.Code == 204 || r.status.Code == 304): // responses without a body are not compared
		case !ok:
			t.Errorf("%q: taken, with body %q, and net/http refuses it", data, complete.body)
		case body != complete.body || len(complete.consumed) != n:
			t.Errorf("%q: body %q and %d bytes, net/http reads %q and %d", data, complete.body, len(complete.consumed), body, n)
		}
	})
}

// netHTTP returns the body that net/http reads from wire and the number of
// bytes that it consumes.
func netHTTP(wire []byte, head bool) (body string, n int, ok bool) {
	source := bytes.NewReader(wire)
	r := bufio.NewReaderSize(source, readBuffer)
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return "", 0, false
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return "", 0, false
		}
		if resp.StatusCode < 100 || resp.StatusCode >= 200 {
			return string(body), len(wire) - source.Len() - r.Buffered(), true
		}
	}
}
