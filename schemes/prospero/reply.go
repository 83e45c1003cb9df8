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
	"github.com/anyurl/fetch/internal/prospero/ardp"
	"github.com/anyurl/fetch/internal/prospero/message"
	"github.com/anyurl/fetch/internal/tty"
)

type driver struct{ env fetch.Env }

// A reply is what a server says to one request, over a socket of its own.
type reply struct {
	*message.Reader
	call   *ardp.Call
	conn   net.Conn
	peer   netip.Addr
	note   func(format string, args ...any)
	stop   func() bool
	closed atomic.Bool
}

// maxRedirects bounds how often servers may hand a request on.
const maxRedirects = 5

// ask sends a request and waits until the reply begins. A server that hands it
// on is followed as far as the Policy allows.
func (d *driver) ask(ctx context.Context, req *fetch.Request, r request) (*reply, error) {
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
		answer, err := d.askAt(ctx, req, address, text)
		var to *ardp.RedirectError
		if !errors.As(err, &to) {
			return answer, wireFault(err)
		}
		req.Trace.Notef("%v", to)
		address = to.To.String()
	}
	return nil, fetch.Loop.Errorf("more than %d servers handed the request on", maxRedirects)
}

func (d *driver) askAt(ctx context.Context, req *fetch.Request, address string, text []byte) (*reply, error) {
	conn, err := d.env.Net.DialContext(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	fetch.SetIdleTimeout(conn, 0) // a Call has more patience, and an end to it
	r := &reply{conn: conn, peer: fetch.PeerOf(conn), note: few(req.Trace), stop: context.AfterFunc(ctx, func() { conn.Close() })}
	r.call, err = ardp.New(req.Trace.Tap(conn), text, ardp.Options{Note: r.note})
	if err == nil {
		req.Trace.Reached(fetch.RequestSent, conn)
		in := bufio.NewReader(r.call)
		_, err = in.Peek(1)
		r.Reader = message.NewReader(in)
		r.hurry()
	}
	if err != nil && err != io.EOF {
		r.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	req.Trace.Reached(fetch.FirstByte, conn)
	return r, nil
}

// maxNoted is of how many things a server may have us tell with one reply.
const maxNoted = 20

// few passes the first notes on to t.
func few(t *fetch.Trace) func(format string, args ...any) {
	noted := 0
	return func(format string, args ...any) {
		if noted++; noted <= maxNoted {
			t.Notef(format, args...)
		}
	}
}

// replyTime is for what has to come before a Read, or a request, can end, however
// slowly it comes.
const replyTime = 2 * time.Minute

// hurry gives the next part of the reply its time.
func (r *reply) hurry() { r.call.Until(time.Now().Add(replyTime)) }

// Close ends the conversation: there is no goodbye. It may be called again, and
// beside a read.
func (r *reply) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.stop()
	return r.conn.Close()
}

// next reads the next line that says something of the objects asked for. It is
// io.EOF at the end of the reply, and the server's refusal where that comes.
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

// isAside reports whether a line is none of the answer.
func (r *reply) isAside(l message.Line) bool {
	switch l.Token(0) {
	case "VERSION", "SUCCESS":
	case "WARNING":
		r.note("server says: %s", tty.Escape(strings.Join(l.Tokens, " ")))
	default:
		return false
	}
	return true
}

// lineFault is wireFault, but for the end.
func lineFault(err error) error {
	if err == io.EOF {
		return err
	}
	return wireFault(err)
}
