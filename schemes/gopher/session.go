package gopher

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

// A session is one connection on which a line was sent. The server answers
// and closes.
type session struct {
	*sessions.Conn
	r      *bufio.Reader // the answer
	stop   func() bool
	closed atomic.Bool
}

// Close ends the connection. It may be called again, and beside a read.
func (s *session) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.stop()
	return s.Conn.Close()
}

// window is how much of an answer is looked at before anything is given out;
// larger reads go past it.
const window = 32 << 10

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

// send connects and sends. Shown is sent with its secrets masked.
func (d *driver) send(ctx context.Context, req *fetch.Request, sent, shown []byte) (*session, error) {
	conn, err := d.dial(ctx, req)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, conn.Abort)
	if err := conn.Send(sent, shown); err != nil {
		stop()
		conn.Close()
		if fetch.FaultOf(err) == fetch.Internal {
			err = fetch.Connect.With(err)
		}
		return nil, err
	}
	req.Trace.Reached(fetch.Asked, conn.NetConn)
	return &session{Conn: conn, r: bufio.NewReaderSize(conn, window), stop: stop}, nil
}

// dial connects. Servers end TLS by closing the connection, as they end plain
// Gopher. crypto/tls accepts that unless a record is cut.
func (d *driver) dial(ctx context.Context, req *fetch.Request) (*sessions.Conn, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	door, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	conn := sessions.NewConn(door, req.Trace, "")
	if req.URL.Scheme() != "gophers" {
		return conn, nil
	}
	return conn, conn.Encrypt(ctx, d.env.TLS, t.Host, 0)
}

// begin waits for the first byte of the answer, or for its end.
func (s *session) begin() error {
	_, err := s.r.Peek(1)
	if err != nil && err != io.EOF {
		return err
	}
	s.Trace().Reached(fetch.Answered, s.NetConn)
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
