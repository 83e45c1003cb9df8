package prospero

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

var menu = entries.Menu

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if req.Op == fetch.Stat {
		return d.stat(ctx, req, l)
	}
	selection.IgnoreRange(req, "prospero")
	r, err := d.send(ctx, req, l.list())
	if err != nil {
		return nil, err
	}
	first, err := r.next()
	switch {
	case err == io.EOF, err == nil && first.Token(0) != "FORWARDED":
		resp := newResponse(r)
		resp.Kind, resp.Media = fetch.Menu, entries.Media
		resp.Body = newListing(r, req.URL, first)
		return resp, nil
	case err == nil:
		defer r.Close()
		return forwarded(r, first, req.URL)
	case first.Token(0) == "FAILURE" && first.Token(1) == notADirectory && !l.isArchie():
		r.Close()
		return d.object(ctx, req, l)
	}
	r.Close()
	return nil, err
}

func newResponse(r *reply) *fetch.Response {
	return &fetch.Response{Size: -1, Proto: "Prospero", Peer: r.peer, Body: http.NoBody}
}

// forwarded returns a redirect to the new location of an object.
func forwarded(r *reply, l message.Line, base uri.URI) (*fetch.Response, error) {
	resp := newResponse(r)
	moved := link{target: "OBJECT", host: l.Token(2), name: l.Token(4), version: strings.TrimLeft(l.Token(5), "0")}
	var ok bool
	if resp.Location, ok = moved.url(base); !ok || len(l.Tokens) < 5 {
		return nil, fetch.Protocol.Errorf("server forwarded the object to an invalid place")
	}
	return resp, nil
}

// A listing reads the links of a directory as they arrive.
type listing struct {
	reply *reply
	base  uri.URI
	line  message.Line // the line after the current entry
	ended bool
}

// newListing returns the listing of a directory as a body.
func newListing(r *reply, base uri.URI, first message.Line) io.ReadCloser {
	l := &listing{reply: r, base: base, line: first, ended: len(first.Tokens) == 0}
	return sessions.NewBody(entries.NewReader(l.next), func() { r.Close() })
}

// next returns the next entry of a directory. Pauses of the caller between two
// calls do not count as response time of the server.
func (l *listing) next() (fetch.Entry, error) {
	l.reply.startTimeout()
	for !l.ended {
		at, ok := linkOf(l.line)
		if !ok {
			e, shown := aside(l.line)
			if err := l.advance(); err != nil || shown {
				return e, err
			}
			continue
		}
		size := len(l.line.Raw)
		for {
			if err := l.advance(); err != nil {
				return fetch.Entry{}, err
			}
			if l.ended || !strings.HasPrefix(l.line.Token(0), "ATTRIBUTE") && l.line.Token(0) != "LINK-INFO" {
				return at.entry(l.base), nil
			}
			if size += len(l.line.Raw); size > maxHead {
				return fetch.Entry{}, tooMuch()
			}
			at.add(l.line)
		}
	}
	return fetch.Entry{}, io.EOF
}

// advance reads the next line.
func (l *listing) advance() (err error) {
	if l.line, err = l.reply.next(); err == io.EOF {
		l.ended = true
		return nil
	}
	return err
}

// aside returns an entry for a line of a directory that does not describe a
// link. fetch shows such a line, but does not interpret it.
func aside(l message.Line) (e fetch.Entry, shown bool) {
	switch l.Token(0) {
	case "FILTER", "UNRESOLVED":
		return fetch.Entry{Name: strings.Join(l.Tokens, " "), Kind: fetch.Info, Size: -1, Raw: l.Raw}, true
	}
	return e, false
}
