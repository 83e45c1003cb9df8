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
	"github.com/anyurl/fetch/internal/sessions"
)

// pieces is a connection on which what is there comes size bytes at a time.
type pieces struct {
	net.Conn
	left []byte
	size int
}

func (c *pieces) SetReadDeadline(time.Time) error { return nil }
func (c *pieces) Close() error                    { return nil }

func (c *pieces) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.left[:min(c.size, len(c.left))])
	c.left = c.left[n:]
	return n, nil
}

// A reading is what a reader made of the bytes of a connection.
type reading struct {
	head, body, heard string
	fault             fetch.Fault
	spent             bool
}

// leaseReader returns a reader of c, which is not used again.
func leaseReader(c *conn) *reader {
	r := &reader{conn: c, ctx: context.Background()}
	done := make(chan struct{})
	close(done) // the pool closes what it gets
	idle := sessions.Pool[*conn]{Done: done}
	idle.Do(r.ctx, "", nil, func() (*conn, error) { return c, nil }, func(l *lease) error {
		r.lease = l
		return nil
	})
	return r
}

func readPieces(data []byte, size, buffer int, head bool) (got reading, r *reader) {
	c := newConn(&pieces{left: data, size: size}, nil)
	r = leaseReader(c)
	r.noBody = head
	r.got = func(p []byte) { got.heard += string(p) }
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

// However a response comes, the same is read. What net/http, which is another
// reading of the same standard, takes for one whole response is the same
// object here, unless it is refused, and ends at the same byte; what it
// refuses is refused, or odd.
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
		whole, r := readPieces(data, len(data)+1, len(data)+64, head)
		if parts, _ := readPieces(data, size, buffer, head); parts != whole {
			t.Fatalf("%q: read as %+v at once, as %+v in pieces", data, whole, parts)
		}
		if !bytes.HasPrefix(data, []byte(whole.heard)) {
			t.Errorf("%q: heard %q", data, whole.heard)
		}
		body, n, ok := netHTTP(data, head)
		switch {
		case whole.fault != 0 || whole.spent || r.status.Code == 101:
		case !ok && (head || r.status.Code == 204 || r.status.Code == 304): // what frames no body is not judged
		case !ok:
			t.Errorf("%q: taken, with body %q, and net/http refuses it", data, whole.body)
		case body != whole.body || len(whole.heard) != n:
			t.Errorf("%q: body %q and %d bytes, net/http reads %q and %d", data, whole.body, len(whole.heard), body, n)
		}
	})
}

// netHTTP is the body that net/http reads, and how much of wire it takes.
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
