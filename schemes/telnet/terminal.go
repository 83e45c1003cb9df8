package telnet

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	library "github.com/ziutek/telnet"
)

// telnet opens a telnet session.
func (o Options) telnet(
	ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request,
) (*fetch.Response, error) {
	if req.Op == fetch.Stat {
		return statResponse(), nil
	}
	reportTarget(t, req)
	netConn, err := env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	g := &optionConn{Conn: req.Trace.Tap(netConn), mode: o.Mode, options: options{
		agreeUs:  map[byte]bool{optBinary: true, optSGA: true, optTerminal: true, optWindow: true},
		agreeHim: map[byte]bool{optBinary: true, optEcho: true, optSGA: true},
		terminal: cmp.Or(o.Terminal, "XTERM"),
	}}
	stream, err := library.NewConn(g)
	if err != nil {
		netConn.Close()
		return nil, fetch.Internal.With(err)
	}
	g.reportMode()
	resp := o.newTerminal(ctx, netConn, req.Trace, stream, g.send)
	resp.Resize = g.resize
	return resp, nil
}

// statResponse returns the Response for a Stat request. No connection is opened
// for a Stat request.
func statResponse() *fetch.Response {
	return &fetch.Response{Kind: fetch.Session, Size: -1, Body: io.NopCloser(new(emptyReader))}
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// newTerminal returns a Response for an interactive session over netConn.
func (o Options) newTerminal(
	ctx context.Context, netConn net.Conn, events *trace.Trace, stream io.Reader, send func([]byte) (int, error),
) *fetch.Response {
	events.Reached(trace.RequestSent, netConn)
	fetch.SetIdleTimeout(netConn, o.Idle)
	stop := context.AfterFunc(ctx, func() { netConn.Close() })
	return &fetch.Response{
		Kind:  fetch.Session,
		Size:  -1,
		Peer:  fetch.PeerOf(netConn),
		Input: &input{netConn, send},
		Body:  &output{stream, netConn, events, stop, o.Idle},
	}
}

// input implements Response.Input for a session.
type input struct {
	netConn net.Conn
	send    func([]byte) (int, error)
}

func (i *input) Write(p []byte) (int, error) { return i.send(p) }

// Close closes the sending direction of the connection.
func (i *input) Close() error {
	if half, ok := i.netConn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return fetch.Unsupported.Errorf("connection does not support closing the sending direction")
}

// output implements Response.Body for a session.
type output struct {
	stream  io.Reader
	netConn net.Conn
	trace   *trace.Trace // nil after the first byte
	stop    func() bool
	idle    time.Duration // after this time without data, the session ends with io.EOF; 0 means no limit
}

// Read returns io.EOF after the idle time without data, although commands such as
// NOP arrive, which restart the idle time of the connection.
func (o *output) Read(p []byte) (int, error) {
	if o.idle > 0 {
		o.netConn.SetReadDeadline(time.Now().Add(o.idle))
	}
	n, err := o.stream.Read(p)
	if n > 0 && o.trace != nil {
		o.trace.Reached(trace.FirstByte, o.netConn)
		o.trace = nil
	}
	if o.idle > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

func (o *output) Close() error {
	o.stop()
	o.netConn.Close()
	return nil
}
