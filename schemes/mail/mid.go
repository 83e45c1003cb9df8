package mail

import (
	"context"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
	"github.com/anyurl/fetch/uri"
)

// A midLocator is what a mid URL names (RFC 2392 2).
type midLocator struct {
	messageID string // its id, with brackets
	contentID string // its Content-ID, without; "": the message
}

// maxID bounds an id: longer ones fit in no line (RFC 5322 2.1.1).
const maxID = 990

// locateMid reads "mid:MESSAGE-ID" and "mid:MESSAGE-ID/CONTENT-ID". The slash
// of an id is written %2F.
func parseMid(u uri.URI) (midLocator, error) {
	text, err := opaquePart(u)
	if err != nil {
		return midLocator{}, err
	}
	message, part, parted := strings.Cut(text, "/")
	var l midLocator
	if l.messageID, err = parseID(message); err == nil && parted {
		l.contentID, err = parseID(part)
	}
	l.messageID = "<" + l.messageID + ">"
	return l, err
}

// opaque is what follows the scheme of a URL that names no server.
func opaquePart(u uri.URI) (string, error) {
	if u.HasAuthority() {
		return "", fetch.BadURL.Errorf("%s URLs name no host", u.Scheme())
	}
	text := u.Path()
	if q, ok := u.Query(); ok {
		text += "?" + q
	}
	return text, nil
}

// parseID decodes an id and takes its brackets off, where it has them.
func parseID(text string) (string, error) {
	id, err := uri.Unescape(text)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	if inner, ok := strings.CutPrefix(id, "<"); ok {
		id = strings.TrimSuffix(inner, ">")
	}
	if id == "" || len(id) > maxID {
		return "", fetch.BadURL.Errorf("id of %d bytes, not of 1 to %d", len(id), maxID)
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c >= 0x7f || c == '<' || c == '>' {
			return "", fetch.BadURL.Errorf("byte %#02x in an id", c)
		}
	}
	return id, nil
}

func midPlan(req *fetch.Request) ([]fetch.Step, error) {
	l, err := parseMid(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []fetch.Step{{Verb: "FIND Message-ID", Arg: l.messageID}}
	if l.contentID != "" {
		steps = append(steps, fetch.Step{Verb: "FIND Content-ID", Arg: "<" + l.contentID + ">"})
	}
	return steps, nil
}

func cidPlan(req *fetch.Request) ([]fetch.Step, error) {
	id, err := parseCid(req.URL)
	return []fetch.Step{{Verb: "FIND Content-ID", Arg: "<" + id + ">"}}, err
}

func parseCid(u uri.URI) (string, error) {
	text, err := opaquePart(u)
	if err != nil {
		return "", err
	}
	return parseID(text)
}

// mid is the driver of mid URLs.
func (o Options) mid(env fetch.Env) fetch.DriverFunc {
	stores := o.newStoreSet(env)
	return func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		l, err := parseMid(req.URL)
		if err != nil {
			return nil, err
		}
		return stores.fetch(ctx, req, l)
	}
}

// cid is the driver of cid URLs: of the message that led to them, or of the
// one that the user names.
func (o Options) cid(env fetch.Env) fetch.DriverFunc {
	stores := o.newStoreSet(env)
	return func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		id, err := parseCid(req.URL)
		if err != nil {
			return nil, err
		}
		if from := req.From; from != nil && from.URL.Scheme() == "mid" {
			l, err := parseMid(from.URL)
			if err != nil {
				return nil, err
			}
			l.contentID = id
			return stores.fetch(ctx, req, l)
		}
		if o.In == nil {
			return nil, needOption(fetch.Usage.Errorf("a cid URL names a part of a message, and no message is given"), OverrideIn, "")
		}
		if ctx.Value(nestedCidKey{}) != nil {
			return nil, fetch.Usage.Errorf("the message around a cid URL is given by another cid URL, and so on for ever")
		}
		resp, err := o.In(context.WithValue(ctx, nestedCidKey{}, true))
		if err != nil {
			return nil, err
		}
		return partResponse(req, resp, id)
	}
}

// insideKey marks the context of Options.In, which may ask the same Client.
type nestedCidKey struct{}

// bring finds a message in the stores, or a part of it.
func (l *storeSet) fetch(ctx context.Context, req *fetch.Request, what midLocator) (*fetch.Response, error) {
	if !req.Range.IsZero() {
		req.Trace.Notef("messages by their ids have no ranges: the whole object comes")
	}
	if what.contentID != "" {
		whole := *req
		whole.Op = fetch.Get
		resp, err := l.find(ctx, &whole, what.messageID)
		if err != nil {
			return nil, err
		}
		return partResponse(req, resp, what.contentID)
	}
	resp, err := l.find(ctx, req, what.messageID)
	if err == nil && req.Op == fetch.Stat && resp.Body != nil {
		resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(""))
	}
	return resp, err
}

// partOf makes the response with a message that of one of its parts.
func partResponse(req *fetch.Request, resp *fetch.Response, id string) (*fetch.Response, error) {
	p, err := rfc822.FindID(resp.Body, id)
	var text io.Reader
	if err == nil {
		text, err = p.Body(req.Trace.Notef)
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	part := &fetch.Response{Kind: fetch.Document, Media: p.Media, Size: -1, Time: resp.Time, Header: p.Header,
		Proto: resp.Proto, Peer: resp.Peer, TLS: resp.TLS, Body: &bodyCloser{Reader: text, Closer: resp.Body}}
	if req.Op == fetch.Stat {
		resp.Body.Close()
		part.Body = io.NopCloser(strings.NewReader(""))
	}
	return part, nil
}
