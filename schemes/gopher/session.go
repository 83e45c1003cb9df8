package gopher

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/sessions"
)

// A session is a connection for one request. The server sends its response and
// closes the connection.
type session struct {
	*sessions.Conn
	r      *bufio.Reader // the response
	stop   func() bool
	closed atomic.Bool
}

// Close closes the connection. It may be called more than once and concurrently
// with Read.
func (s *session) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.stop()
	return s.Conn.Close()
}

// bufferSize is the number of response bytes that can be examined before the
// body is returned. Larger reads bypass the buffer.
const bufferSize = 32 << 10

// exchange connects to the server, sends a request and returns the session for
// the response. The connection is closed when ctx is done or the session is
// closed.
func (d *driver) exchange(ctx context.Context, req *fetch.Request, l locator) (*session, error) {
	sent := []byte(l.requestLine() + "\r\n")
	logged := sent
	if f := l.plus.form; f != nil {
		line := sent
		sent = append(line[:len(line):len(line)], f.encode(false)...)
		logged = append(line[:len(line):len(line)], f.encode(true)...)
	}
	return d.send(ctx, req, sent, logged)
}

// send connects to the server and sends the bytes in sent. The trace receives
// logged, which is the same request with masked passwords.
func (d *driver) send(ctx context.Context, req *fetch.Request, sent, logged []byte) (*session, error) {
	conn, err := d.dial(ctx, req)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, conn.Abort)
	if err := conn.Send(sent, logged); err != nil {
		stop()
		conn.Close()
		if fetch.FaultOf(err) == fetch.Internal {
			err = fetch.Connect.With(err)
		}
		return nil, err
	}
	req.Trace.Reached(trace.RequestSent, conn.NetConn)
	return &session{Conn: conn, r: bufio.NewReaderSize(conn, bufferSize), stop: stop}, nil
}

// dial connects to the server of req, with TLS for gophers URLs. Gopher servers
// end a TLS connection by closing the TCP connection, without a close_notify
// alert. crypto/tls accepts this end between two TLS records.
func (d *driver) dial(ctx context.Context, req *fetch.Request) (*sessions.Conn, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	netConn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	conn := sessions.NewConn(netConn, req.Trace, "")
	if req.URL.Scheme() != "gophers" {
		return conn, nil
	}
	return conn, conn.Encrypt(ctx, d.env.TLS, t.Host, 0)
}

// awaitResponse waits until the first byte of the response or the end of the
// connection has arrived.
func (s *session) awaitResponse() error {
	_, err := s.r.Peek(1)
	if err != nil && err != io.EOF {
		return err
	}
	s.Trace().Reached(trace.FirstByte, s.NetConn)
	return nil
}

// A body reads the content of a response. Closing the body closes the session.
type body struct {
	io.Reader
	session *session
}

func (b *body) Read(p []byte) (int, error) {
	if b.session.closed.Load() {
		return 0, fetch.Usage.Errorf("read from a closed response body")
	}
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF && fetch.FaultOf(err) == fetch.Connect {
		err = fetch.Truncated.Errorf("connection failed: %w", err)
	}
	return n, err
}

func (b *body) Close() error { return b.session.Close() }

// stringBody returns a response body that contains text.
func stringBody(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
