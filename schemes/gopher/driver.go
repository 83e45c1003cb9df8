package gopher

import (
	"context"

	"github.com/anyurl/fetch/fetch"
)

// A driver carries out plans. It keeps nothing between requests: Gopher has
// one request to a connection.
type driver struct {
	env     fetch.Env
	options Options
}

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := d.options.locate(req)
	switch {
	case err != nil:
		return nil, err
	case !l.link.IsZero():
		return &fetch.Response{URL: req.URL, Size: -1, Location: l.link, Body: memory("")}, nil
	case req.Op == fetch.Stat:
		return d.stat(ctx, req, l)
	case l.item == '2':
		return d.askPhone(ctx, req, l)
	}
	if !req.Range.IsZero() {
		req.Trace.Notef("gopher has no ranges: the whole object comes")
	}
	switch {
	case l.plus.verb == '?':
		l.plus, err = d.fill(ctx, req, l)
	case l.plus.choose:
		l.plus, err = d.choose(ctx, req, l)
	}
	if err != nil {
		return nil, err
	}
	resp, err := d.get(ctx, req, l)
	if err == nil && !req.Range.IsZero() {
		resp.Size = -1 // the Client would hold the body to the range
	}
	return resp, err
}

// get sends one line and reads the beginning of the answer.
func (d *driver) get(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	s, err := d.exchange(ctx, req, l)
	if err != nil {
		return nil, err
	}
	resp, err := d.read(req, l, s)
	if err != nil {
		s.Close()
		return nil, err
	}
	resp.URL, resp.Peer, resp.TLS = req.URL, fetch.PeerOf(s.NetConn), s.TLS
	return resp, nil
}

// read reads the beginning of an answer.
func (d *driver) read(req *fetch.Request, l locator, s *session) (*fetch.Response, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	if l.plus.verb != 0 {
		h, ok, err := readHeader(s.r)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return d.readPlus(req, l, s, h)
		case !l.plus.isDefault():
			return nil, fetch.Unsupported.Errorf("server does not speak Gopher+")
		}
	}
	return d.readPlain(req, l, s)
}

// readPlain reads an answer that has neither status nor length.
func (d *driver) readPlain(req *fetch.Request, l locator, s *session) (*fetch.Response, error) {
	begun, _ := s.r.Peek(s.r.Buffered())
	resp := &fetch.Response{Size: -1, Proto: "Gopher", Media: mediaOf(l.item, l.selector, begun)}
	out := &body{s.r, s}
	resp.Body = out
	fault, err := complaint(s.r)
	switch {
	case err != nil:
		return nil, err
	case fault != nil:
		resp.Fault, resp.Kind, resp.Media = fault, fetch.Document, "text/plain"
		return resp, nil
	}
	resp.Kind = kindOf(resp.Media)
	switch typeOf(l.item).framing {
	case asText:
		resp.Media += charset(s.r)
		out.Reader = newText(s.r, d.options.Strict, req.Trace.Detailf)
	case asMenu:
		if len(begun) == 0 {
			resp.Doubt = "server closed the connection without a byte: the menu is empty, or the answer was lost"
			req.Trace.Notef("%s", resp.Doubt)
		}
		out.Reader = &menuReader{r: s.r, strict: d.options.Strict, note: req.Trace.Detailf}
	}
	return resp, nil
}
