package gopher

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A session is one connection on which a line was sent. The server answers
// and closes.
type session struct {
	r      *bufio.Reader // the answer
	conn   net.Conn
	trace  *fetch.Trace
	secure *tls.ConnectionState // nil: in clear
	stop   func() bool
	closed atomic.Bool
}

// Close ends the connection. It may be called again, and beside a read.
func (s *session) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.stop()
	return s.conn.Close()
}

// window is how much of an answer is looked at before anything is given out;
// larger reads go past it.
const window = 32 << 10

// sendTime limits the sending of a request.
const sendTime = time.Minute

// exchange connects and sends what l says. The connection lives as long as
// ctx, or until the session is closed.
func (d *driver) exchange(ctx context.Context, req *fetch.Request, l locator) (*session, error) {
	sent := []byte(l.line() + "\r\n")
	shown := sent
	if f := l.plus.form; f != nil {
		sent, shown = append(sent[:len(sent):len(sent)], f.encode(false)...), append(shown[:len(shown):len(shown)], f.encode(true)...)
	}
	return d.send(ctx, req, sent, shown)
}

// send connects and sends; shown is what a trace hears of it.
func (d *driver) send(ctx context.Context, req *fetch.Request, sent, shown []byte) (*session, error) {
	conn, secure, err := d.dial(ctx, req)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	if t := req.Trace; t != nil && t.Sent != nil {
		t.Sent(shown)
	}
	if _, err := conn.Write(sent); err != nil {
		stop()
		conn.Close()
		if fetch.FaultOf(err) == fetch.Internal {
			err = fetch.Connect.With(err)
		}
		return nil, err
	}
	req.Trace.Reached(fetch.Asked, conn)
	heard := hearing(req.Trace).Tap(conn)
	return &session{r: bufio.NewReaderSize(heard, window), conn: conn, trace: req.Trace, secure: secure, stop: stop}, nil
}

// hearing is t without Sent: the line was told already, without secrets.
func hearing(t *fetch.Trace) *fetch.Trace {
	if t == nil {
		return nil
	}
	return &fetch.Trace{Got: t.Got}
}

func (d *driver) dial(ctx context.Context, req *fetch.Request) (net.Conn, *tls.ConnectionState, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, nil, err
	}
	conn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, nil, err
	}
	conn.SetWriteDeadline(time.Now().Add(sendTime))
	if req.URL.Scheme() != "gophers" {
		return conn, nil, nil
	}
	// Servers end TLS by closing the connection, as they end plain Gopher.
	// crypto/tls accepts that unless a record is cut.
	secure, err := fetch.Handshake(ctx, conn, d.env.TLS, t.Host, req.Trace)
	if err != nil {
		return nil, nil, err
	}
	state := secure.ConnectionState()
	return secure, &state, nil
}

// begin waits for the first byte of the answer, or for its end.
func (s *session) begin() error {
	_, err := s.r.Peek(1)
	if err != nil && err != io.EOF {
		return err
	}
	s.trace.Reached(fetch.Answered, s.conn)
	return nil
}

// A body is the answer without what frames it. Closing it ends the session.
type body struct {
	io.Reader
	session *session
}

func (b *body) Read(p []byte) (int, error) {
	if b.session.closed.Load() {
		return 0, fetch.Usage.Errorf("read after close")
	}
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF && fetch.FaultOf(err) == fetch.Connect {
		err = fetch.Truncated.Errorf("connection broke: %w", err)
	}
	return n, err
}

func (b *body) Close() error { return b.session.Close() }

// memory is a Body that is there already.
func memory(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
