package pop

import (
	"context"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

type driver struct {
	Options
	env         fetch.Env
	port        uint16
	implicitTLS bool
	idle        sessions.Pool[*session]
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// Do retrieves a message or the list of messages.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	number, err := numberOf(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, d.port)
	if err != nil {
		return nil, err
	}
	selection.IgnoreRange(req, "pop")
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Auth: req.Auth, Properties: []string{d.mechanism(req)},
		TLS: d.implicitTLS, Goodbye: "QUIT\r\n",
		New:  func(c *sessions.Conn) *session { return newSession(c, t) },
		Open: func(ctx context.Context, s *session, _ *fetch.Credential) error { return d.open(ctx, s, req) },
	}.Do(ctx, func(l *lease) (*fetch.Response, error) { return retrieve(l, req, number) })
}

// listMedia is the media type of a listing: the lines of the reply to LIST.
const listMedia = "text/x-pop3-list"

// retrieve sends the command of a request and returns its response. The end of the
// body ends the lease.
func retrieve(l *lease, req *fetch.Request, number string) (*fetch.Response, error) {
	s := l.Session
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: "message/rfc822", Size: -1, Proto: "POP3"}
	var words []string
	switch {
	case number == "" && req.Op == fetch.Stat:
		words = []string{"STAT"}
	case number == "":
		words = []string{"LIST"}
	case req.Op == fetch.Stat:
		words = []string{"LIST", number}
	default:
		words = []string{"RETR", number}
	}
	if number == "" {
		resp.Kind, resp.Media = fetch.Menu, listMedia
	}
	r, err := s.command(words...)
	switch {
	case err != nil:
		return nil, err
	case r.more:
		s.Break()
		return nil, fetch.Protocol.Errorf("unexpected challenge of the server")
	case !r.ok && number != "":
		return nil, r.fail(fetch.NotFound)
	case !r.ok:
		return nil, r.fail(fetch.Denied)
	case req.Op == fetch.Stat:
		if _, size, ok := parseScan(r.text); ok && number != "" {
			resp.Size = size
		}
		resp.Body = l.Body(nil, nil)
		return resp, nil
	}
	s.SetReplyTimeout(0)
	resp.Body = l.Body(s.Lines.Block(0), bodyFault)
	return resp, nil
}

// bodyFault classifies an error that occurs while a body is read.
func bodyFault(err error) error {
	if err == io.EOF {
		return err
	}
	if err = sessions.ReplyFault(err); fetch.FaultOf(err) == fetch.Connect {
		err = fetch.Truncated.With(err)
	}
	return err
}

// parseScan parses a scan listing (RFC 1939 5): the number and the size of a
// message.
func parseScan(text string) (number string, size int64, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 2 || fields[0] == "" || len(fields[0]) > 10 || strings.Trim(fields[0], "0123456789") != "" {
		return "", -1, false
	}
	size, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || size < 0 {
		size = -1
	}
	return fields[0], size, true
}

// menu parses the reply to LIST.
func menu(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		for text, err := range textform.Lines(r, line.MaxReplyLine) {
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			if !yield(entry(base, string(text)), nil) {
				return
			}
		}
	}
}

// entry converts a scan listing to an Entry.
func entry(base uri.URI, text string) fetch.Entry {
	e := fetch.Entry{Name: strings.ToValidUTF8(text, "\ufffd"), Kind: fetch.Info, Size: -1, Raw: text}
	number, size, ok := parseScan(text)
	if !ok {
		return e
	}
	parts := base.Parts() // without the password
	parts.Userinfo, _, _ = base.User()
	parts.HasUserinfo = parts.Userinfo != ""
	parts.Path, parts.Fragment, parts.HasFragment = "/"+number, "", false
	if u, err := uri.Build(parts); err == nil {
		e.Name, e.URL, e.Kind, e.Media, e.Size = number, u, fetch.Document, "message/rfc822", size
	}
	return e
}
