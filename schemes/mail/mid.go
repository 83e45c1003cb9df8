package mail

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// A midLocator is a parsed mid URL (RFC 2392 2).
type midLocator struct {
	messageID string // Message-ID with angle brackets
	contentID string // Content-ID without angle brackets, or "" for the message
}

// maxID is the maximum length of a Message-ID or Content-ID in bytes. A longer
// id does not fit in a header line (RFC 5322 2.1.1).
const maxID = 990

// parseMid parses URLs of the form mid:MESSAGE-ID or mid:MESSAGE-ID/CONTENT-ID.
// A slash within an id must be encoded as %2F.
func parseMid(u uri.URI) (midLocator, error) {
	text, err := opaquePart(u)
	if err != nil {
		return midLocator{}, err
	}
	message, part, hasPart := strings.Cut(text, "/")
	var l midLocator
	if l.messageID, err = parseID(message); err == nil && hasPart {
		l.contentID, err = parseID(part)
	}
	l.messageID = "<" + l.messageID + ">"
	return l, err
}

// opaquePart returns the text after "mid:" or "cid:", including the query. It
// returns an error if the URL has an authority ("//").
func opaquePart(u uri.URI) (string, error) {
	if u.HasAuthority() {
		return "", fetch.BadURL.Errorf("%s URLs must not have a host", u.Scheme())
	}
	text := u.Path()
	if q, ok := u.Query(); ok {
		text += "?" + q
	}
	return text, nil
}

// parseID decodes a percent-encoded id and removes its angle brackets.
func parseID(text string) (string, error) {
	id, err := uri.Unescape(text)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	if inner, ok := strings.CutPrefix(id, "<"); ok {
		id = strings.TrimSuffix(inner, ">")
	}
	if id == "" || len(id) > maxID {
		return "", fetch.BadURL.Errorf("id is %d bytes long, not between 1 and %d", len(id), maxID)
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c >= 0x7f || c == '<' || c == '>' {
			return "", fetch.BadURL.Errorf("id contains the invalid byte %#02x", c)
		}
	}
	return id, nil
}

func midPlan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := parseMid(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "FIND Message-ID", Arg: l.messageID}}
	if l.contentID != "" {
		steps = append(steps, scheme.Step{Verb: "FIND Content-ID", Arg: "<" + l.contentID + ">"})
	}
	return steps, nil
}

func cidPlan(req *fetch.Request) ([]scheme.Step, error) {
	id, err := parseCid(req.URL)
	return []scheme.Step{{Verb: "FIND Content-ID", Arg: "<" + id + ">"}}, err
}

func parseCid(u uri.URI) (string, error) {
	text, err := opaquePart(u)
	if err != nil {
		return "", err
	}
	return parseID(text)
}

// mid returns the driver for mid URLs.
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

// cid returns the driver for cid URLs. If the cid URL is a link in a mid
// message, the driver returns a part of that message. Otherwise it returns a
// part of the message from Options.In.
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
			err := fetch.Usage.Errorf("a cid URL names a part of a message, and no message is given")
			return nil, needOption(err, OverrideIn, "")
		}
		if ctx.Value(nestedCidKey{}) != nil {
			return nil, fetch.Usage.Errorf("the message of a cid URL is itself given by a cid URL")
		}
		resp, err := o.In(context.WithValue(ctx, nestedCidKey{}, true))
		if err != nil {
			return nil, err
		}
		return partResponse(req, resp, id, env.Limit)
	}
}

// nestedCidKey is a context key that is set during a call of Options.In. It
// detects a cid URL whose message is itself retrieved by a cid URL.
type nestedCidKey struct{}

// fetch returns the stored message that locator names, or the part with the
// Content-ID in locator if it is not empty.
func (l *storeSet) fetch(ctx context.Context, req *fetch.Request, locator midLocator) (*fetch.Response, error) {
	selection.IgnoreRange(req, req.URL.Scheme())
	if locator.contentID != "" {
		full := *req
		full.Op = fetch.Get
		resp, err := l.find(ctx, &full, locator.messageID)
		if err != nil {
			return nil, err
		}
		return partResponse(req, resp, locator.contentID, l.limit)
	}
	resp, err := l.find(ctx, req, locator.messageID)
	if err == nil && req.Op == fetch.Stat && resp.Body != nil {
		resp.Body.Close()
		resp.Body = http.NoBody
	}
	return resp, err
}

// partResponse returns a response with the message part that has the given
// Content-ID. The content of the part is decoded. The argument limit is
// fetch.Env.Limit, because the search for the part reads the message.
func partResponse(
	req *fetch.Request, resp *fetch.Response, id string, limit func(io.ReadCloser) io.ReadCloser,
) (*fetch.Response, error) {
	resp.Body = limit(resp.Body)
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
		Proto: resp.Proto, Peer: resp.Peer, TLS: resp.TLS, Body: sessions.NewBody(text, func() { resp.Body.Close() })}
	if req.Op == fetch.Stat {
		resp.Body.Close()
		part.Body = http.NoBody
	}
	return part, nil
}
