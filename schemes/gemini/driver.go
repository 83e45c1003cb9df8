package gemini

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A driver executes requests for gemini URLs. Each request has a separate
// connection.
type driver struct {
	env    fetch.Env
	hosts  *hosts
	strict bool // Options.Strict
}

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	text, err := requestURL(req.URL)
	if err != nil {
		return nil, err
	}
	selection.IgnoreRange(req, "gemini")
	conn, raw, err := d.dial(ctx, req)
	if err != nil {
		return nil, err
	}
	sent := []byte(text + "\r\n")
	s, err := sessions.SendSingle(ctx, conn, sent, sent)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) {
		resp, err := readResponse(req, s)
		if err != nil {
			return nil, err
		}
		if resp.Peer = fetch.PeerOf(raw.Conn); resp.Code/10 == 2 && req.Op == fetch.Get {
			resp.Body = s.Body(&body{Reader: s.R, raw: raw, resp: resp, strict: d.strict, trace: req.Trace})
		}
		return resp, nil
	})
}

// dial connects to the server of req and verifies its key.
func (d *driver) dial(ctx context.Context, req *fetch.Request) (*sessions.Conn, *endConn, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, nil, err
	}
	netConn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, nil, err
	}
	raw := &endConn{Conn: netConn}
	conn := sessions.NewConn(raw, req.Trace, "")
	trust := d.hosts.newTrust(serverName(t.Address()), d.env.TLS)
	if err := conn.Encrypt(ctx, trust.config, t.Host, 0); err != nil {
		return nil, nil, err
	}
	if err := trust.store(req.Trace, d.env.Now()); err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, raw, nil
}

// readResponse reads the header of a response.
func readResponse(req *fetch.Request, s *sessions.Single) (*fetch.Response, error) {
	if err := s.AwaitResponse(); err != nil {
		return nil, err
	}
	head, err := s.R.ReadSlice('\n')
	switch {
	case err == io.EOF && len(head) == 0:
		return nil, fetch.Connect.Errorf("connection closed before the response")
	case err != nil && err != bufio.ErrBufferFull && isHeaderStart(head):
		return nil, sessions.ReplyFault(err)
	}
	h, err := parseHeader(head)
	if err != nil {
		return nil, err
	}
	resp, err := h.response(req)
	if err != nil {
		return nil, err
	}
	resp.Head = bytes.Clone(head)
	return resp, nil
}

// An endConn is a network connection that records whether its peer closed it.
type endConn struct {
	net.Conn
	ended atomic.Bool
}

func (c *endConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		c.ended.Store(true)
	}
	return n, err
}

// A body reads a response until the close_notify alert of TLS. Without this
// alert, the response may be truncated, also by an attacker. Many servers never
// send it, so its absence is an error only if strict is set. Otherwise the body
// sets Doubt of resp. Package crypto/tls returns io.EOF for a connection that
// ends between two records, so the body examines the network connection below
// TLS.
type body struct {
	io.Reader
	raw    *endConn
	resp   *fetch.Response
	strict bool
	trace  *trace.Trace
}

const noCloseNotify = "connection closed without close_notify: the response may be incomplete"

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	switch {
	case err != io.EOF || !b.raw.ended.Load():
	case b.strict:
		err = fetch.Truncated.Errorf(noCloseNotify)
	case b.resp.Doubt == "":
		b.resp.Doubt = noCloseNotify
		b.trace.Notef(noCloseNotify)
	}
	return n, err
}
