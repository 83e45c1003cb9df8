package prospero

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

type driver struct{ env fetch.Env }

// A reply reads a server's reply to one request. Each request has its own
// socket.
type reply struct {
	*message.Reader
	call   *ardp.Call
	conn   net.Conn
	peer   netip.Addr
	note   func(format string, args ...any)
	stop   func() bool
	closed atomic.Bool
}

// maxRedirects is the maximum number of redirects to other Prospero servers.
const maxRedirects = 5

// send sends a request and waits for the beginning of the reply. It follows
// redirects to other servers if the policy allows their addresses.
func (d *driver) send(ctx context.Context, req *fetch.Request, r request) (*reply, error) {
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	address := t.Address()
	for range maxRedirects + 1 {
		answer, err := d.sendTo(ctx, req, address, text)
		var to *ardp.RedirectError
		if !errors.As(err, &to) {
			return answer, wireFault(err)
		}
		req.Trace.Notef("%v", to)
		address = to.To.String()
	}
	return nil, fetch.Loop.Errorf("more than %d servers forwarded the request", maxRedirects)
}

func (d *driver) sendTo(ctx context.Context, req *fetch.Request, address string, text []byte) (*reply, error) {
	conn, err := d.env.Net.DialContext(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	fetch.SetIdleTimeout(conn, 0) // a Call has its own, longer timeouts
	r := &reply{conn: conn, peer: fetch.PeerOf(conn), note: limitNotes(req.Trace), stop: context.AfterFunc(ctx, func() { conn.Close() })}
	r.call, err = ardp.New(req.Trace.Tap(conn), text, ardp.Options{Note: r.note})
	if err == nil {
		req.Trace.Reached(trace.RequestSent, conn)
		in := bufio.NewReader(r.call)
		_, err = in.Peek(1)
		r.Reader = message.NewReader(in)
		r.startTimeout()
	}
	if err != nil && err != io.EOF {
		r.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	req.Trace.Reached(trace.FirstByte, conn)
	return r, nil
}

// maxNoted is the maximum number of notes about one reply.
const maxNoted = 20

// limitNotes returns a function that adds notes to a trace, up to maxNoted.
func limitNotes(t *trace.Trace) func(format string, args ...any) {
	noted := 0
	return func(format string, args ...any) {
		if noted++; noted <= maxNoted {
			t.Notef(format, args...)
		}
	}
}

// replyTime is the maximum time for the next part of a reply.
const replyTime = 2 * time.Minute

// startTimeout starts the time limit for the next part of the reply.
func (r *reply) startTimeout() { r.call.Until(time.Now().Add(replyTime)) }

// Close closes the socket. The protocol has no closing message. Close may be
// called more than once, and during a read.
func (r *reply) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.stop()
	return r.conn.Close()
}

// next returns the next line of the reply. It skips lines that are not part of
// the result, such as warnings. If the line reports a failure, next returns the
// error.
func (r *reply) next() (message.Line, error) {
	for {
		l, err := r.Line()
		if err != nil {
			return l, lineFault(err)
		}
		if r.isAside(l) {
			continue
		}
		return l, refusal(l)
	}
}

// isAside reports whether a line of a reply is not part of the result. It adds
// warnings of the server to the trace.
func (r *reply) isAside(l message.Line) bool {
	switch l.Token(0) {
	case "VERSION", "SUCCESS":
	case "WARNING":
		r.note("server replied: %s", textform.Excerpt(strings.Join(l.Tokens, " ")))
	default:
		return false
	}
	return true
}

// lineFault classifies an error like wireFault, but returns io.EOF unchanged.
func lineFault(err error) error {
	if err == io.EOF {
		return err
	}
	return wireFault(err)
}
