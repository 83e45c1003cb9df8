package sessions

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// A Single is a connection for a single request, for protocols such as Gopher
// and Finger. The server closes the connection after its response.
type Single struct {
	*Conn
	R      *bufio.Reader // the response
	stop   func() bool
	closed atomic.Bool
}

// SingleBuffer is the number of response bytes of a [Single] that can be
// examined before the body is returned. Larger reads bypass the buffer.
const SingleBuffer = 32 << 10

// NewSingle returns a Single that reads from c. The function stop is called
// when the Single is closed.
func NewSingle(c *Conn, stop func() bool) *Single {
	return &Single{Conn: c, R: bufio.NewReaderSize(c, SingleBuffer), stop: stop}
}

// OpenSingle connects to the server of req and sends the bytes in sent. The
// argument port is the default port of the scheme. If the scheme is secure, the
// connection uses TLS. The trace receives logged, which is the same request
// with masked passwords. The connection is closed when ctx is done or the
// Single is closed.
//
// Many servers end a TLS connection by closing the TCP connection, without a
// close_notify alert. crypto/tls accepts this end between two TLS records.
func OpenSingle(
	ctx context.Context, env fetch.Env, req *fetch.Request, port uint16, secure bool, sent, logged []byte,
) (*Single, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	netConn, err := env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	conn := NewConn(netConn, req.Trace, "")
	if secure {
		if err := conn.Encrypt(ctx, env.TLS, t.Host, 0); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return SendSingle(ctx, conn, sent, logged)
}

// SendSingle sends the bytes in sent over conn and returns the Single for the
// response. The trace receives logged in place of sent. The connection is
// closed when ctx is done, when the Single is closed, or if sending fails.
func SendSingle(ctx context.Context, conn *Conn, sent, logged []byte) (*Single, error) {
	s := NewSingle(conn, context.AfterFunc(ctx, conn.Abort))
	if len(sent) == 0 {
		return s, nil
	}
	if err := conn.Send(sent, logged); err != nil {
		s.Close()
		if fetch.FaultOf(err) == fetch.Internal {
			err = fetch.Connect.With(err)
		}
		return nil, err
	}
	conn.Trace().Reached(trace.RequestSent, conn.NetConn)
	return s, nil
}

// AwaitResponse waits until the first byte of the response or the end of the
// connection has arrived. If an error occurs, AwaitResponse closes s.
func (s *Single) AwaitResponse() error {
	_, err := s.R.Peek(1)
	if err != nil && err != io.EOF {
		s.Close()
		return err
	}
	s.Trace().Reached(trace.FirstByte, s.NetConn)
	return nil
}

// Respond calls the function read, which reads the start of the response. It adds
// the TLS state of the server to the result, and the address unless read has set
// it. If read fails, takes longer than [ReplyTimeout] or returns a response
// without a body, Respond closes the connection.
func (s *Single) Respond(read func() (*fetch.Response, error)) (*fetch.Response, error) {
	s.SetReplyTimeout(ReplyTimeout)
	resp, err := read()
	if err != nil {
		s.Close()
		return nil, err
	}
	s.SetReplyTimeout(0)
	if resp.TLS = s.TLS; !resp.Peer.IsValid() {
		resp.Peer = fetch.PeerOf(s.NetConn)
	}
	if resp.Body == nil {
		s.Close()
		resp.Body = http.NoBody
	}
	return resp, nil
}

// Close closes the connection. It may be called more than once and concurrently
// with Read.
func (s *Single) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.stop()
	return s.Conn.Close()
}

// Body returns a response body that reads from r. Closing the body closes the
// connection.
func (s *Single) Body(r io.Reader) *PlainBody { return NewBody(r, func() { s.Close() }) }

// Document returns a Response with the bytes that the server sends until it
// closes the connection. Call AwaitResponse first. The arguments are the name of
// the protocol and the media type.
func (s *Single) Document(proto, media string) *fetch.Response {
	resp := &fetch.Response{Kind: fetch.Document, Media: media, Size: -1, Proto: proto, Body: s.Body(s.R)}
	if s.R.Buffered() == 0 {
		resp.Doubt = "server closed the connection without sending data: empty text or lost response"
		s.Trace().Notef("%s", resp.Doubt)
	}
	return resp
}
