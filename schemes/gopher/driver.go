package gopher

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A driver executes requests for gopher and gophers URLs. It keeps no state
// between requests, because each Gopher request has a separate connection.
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
		return &fetch.Response{URL: req.URL, Size: -1, Location: l.link, Body: stringBody("")}, nil
	case req.Op == fetch.Stat:
		return d.stat(ctx, req, l)
	case l.item == '2':
		return d.queryPhoneBook(ctx, req, l)
	}
	selection.IgnoreRange(req, "gopher")
	switch {
	case l.plus.verb == '?':
		l.plus, err = d.fillForm(ctx, req, l)
	case l.plus.viewNeeded:
		l.plus, err = d.selectView(ctx, req, l)
	}
	if err != nil {
		return nil, err
	}
	resp, err := d.get(ctx, req, l)
	if err == nil && !req.Range.IsZero() {
		resp.Size = -1 // keeps the Client from comparing the length of the body with the range
	}
	return resp, err
}

// get sends a Gopher request and reads the start of the response.
func (d *driver) get(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	s, err := d.request(ctx, req, l)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) { return d.readResponse(req, l, s) })
}

// readResponse reads the start of a response and returns a Response whose Body
// reads the remaining data.
func (d *driver) readResponse(req *fetch.Request, l locator, s *sessions.Single) (*fetch.Response, error) {
	if err := s.AwaitResponse(); err != nil {
		return nil, err
	}
	if l.plus.verb != 0 {
		h, ok, err := readHeader(s.R)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return d.readPlus(req, l, s, h)
		case !l.plus.isDefault():
			return nil, fetch.Unsupported.Errorf("server does not support Gopher+")
		}
	}
	return d.readPlain(req, l, s)
}

// readPlain reads a plain Gopher response, which has neither a status nor a
// length.
func (d *driver) readPlain(req *fetch.Request, l locator, s *sessions.Single) (*fetch.Response, error) {
	prefix, _ := s.R.Peek(s.R.Buffered())
	resp := &fetch.Response{URL: req.URL, Size: -1, Proto: "Gopher", Media: mediaOf(l.item, l.selector, prefix)}
	out := s.Body(s.R)
	resp.Body = out
	fault, err := detectError(s.R)
	switch {
	case err != nil:
		return nil, err
	case fault != nil:
		resp.Fault, resp.Kind, resp.Media = fault, fetch.Document, "text/plain"
		return resp, nil
	}
	resp.Kind = kindOf(resp.Media)
	switch typeOf(l.item).framing {
	case textFraming:
		resp.Media += media.Charset(s.R)
		out.Reader = newText(s.R, d.options.Strict, req.Trace.Detailf)
	case menuFraming:
		if len(prefix) == 0 {
			resp.Doubt = "server closed the connection without sending data: empty menu or lost response"
			req.Trace.Notef("%s", resp.Doubt)
		}
		out.Reader = &menuReader{r: s.R, strict: d.options.Strict, note: req.Trace.Detailf}
	}
	return resp, nil
}
