package z3950

import (
	"bytes"
	"context"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

type driver struct {
	env  fetch.Env
	idle sessions.Pool[*session]
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// isListing reports whether the URL names the records that a search finds.
func (l locator) isListing(u uri.URI) bool {
	return u.Scheme() == sessionScheme && l.terms != nil && l.record == 0
}

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case l.terms == nil && req.Op == fetch.Get:
		return nil, needQuery()
	case l.terms == nil:
		return d.describe(ctx, req)
	case l.isListing(req.URL):
		return d.list(ctx, req, l)
	}
	return d.retrieve(ctx, req, l)
}

// request calls the function use with a leased session. The function use ends
// the lease.
func (d *driver) request(
	ctx context.Context, req *fetch.Request, use func(*lease) (*fetch.Response, error),
) (*fetch.Response, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Auth: req.Auth, Prompt: true,
		New: newSession, Goodbye: string(apdu.AppendClose()),
		Open: func(_ context.Context, s *session, auth *fetch.Credential) error { return s.init(auth) },
	}.Do(ctx, use)
}

// describe returns the response for an index.
func (d *driver) describe(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	return d.request(ctx, req, func(l *lease) (*fetch.Response, error) {
		resp := &fetch.Response{Kind: fetch.Index, Size: -1, Proto: proto, Body: http.NoBody, Header: l.Session.describe()}
		l.End(true)
		return resp, nil
	})
}

// retrieve returns the response for a record.
func (d *driver) retrieve(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	return d.request(ctx, req, func(lease *lease) (*fetch.Response, error) {
		r, err := l.find(lease.Session)
		if err != nil {
			return nil, err
		}
		resp, body, err := l.response(req, r)
		if err != nil {
			return nil, err
		}
		resp.Body = lease.Body(bytes.NewReader(body), nil)
		if req.Op == fetch.Stat {
			resp.Body = lease.Body(nil, nil)
		}
		return resp, nil
	})
}

// find requests the record of a URL. If the server rejects the attributes of a
// document id, find searches with simpler ones.
func (l locator) find(s *session) (r apdu.Record, err error) {
	for {
		if err = s.search(l); err == nil {
			break
		}
		if l.terms = simpler(l.terms, codeOf(err)); l.terms == nil {
			return r, err
		}
	}
	n := max(l.record, 1)
	switch {
	case n > s.count && l.record == 0:
		return r, fetch.NotFound.Errorf("no record with this document id")
	case n > s.count:
		return r, fetch.NotFound.Errorf("the search found %d records", s.count)
	case l.record == 0 && s.count > 1:
		return r, fetch.Denied.Errorf("%d records have this document id: list them with z39.50s", s.count)
	}
	all, err := l.present(s, n, 1)
	if err != nil {
		return r, err
	}
	if all[0].Diagnostic != nil {
		return r, newDiagnosis(*all[0].Diagnostic)
	}
	return all[0], nil
}

// useLocalNumber is the Bib-1 attribute for the number of a record in its
// database. More servers support it than document ids.
const useLocalNumber = 12

// simpler returns the terms of a document id with fewer or other attributes. It
// returns nil if the code of the diagnostic is not about attributes, or if no
// simpler terms exist.
func simpler(terms []apdu.Term, code int64) []apdu.Term {
	t := terms[0]
	switch {
	case code < 113 || code > 123 || t.Use != useDocumentID:
		return nil
	case t.Structure != 0:
		t.Structure = 0
	default:
		t.Use = useLocalNumber
	}
	return []apdu.Term{t}
}

// defaultSyntaxes lists the record syntaxes to request, in this order, if the
// URL names none.
var defaultSyntaxes = []string{apdu.USMARC, apdu.XML, apdu.SUTRS, apdu.GRS1}

// present sends Present requests, and returns the records in the first record
// syntax that the server supports.
func (l locator) present(s *session, first, count int64) (all []apdu.Record, err error) {
	order := l.syntaxes
	if order == nil {
		order = defaultSyntaxes
	}
	var firstErr error
	for _, syntax := range order {
		all, err = s.present(first, count, l.elementSet, syntax)
		if err == nil && all[0].Diagnostic != nil {
			err = newDiagnosis(*all[0].Diagnostic)
		}
		if err == nil {
			return all, nil
		}
		if firstErr == nil {
			firstErr = err
		}
		switch codeOf(err) {
		case 14, 227, 238, 239: // the syntax is not supported
		default:
			return nil, err
		}
	}
	return nil, firstErr
}

// response returns the response for a record, and the requested part of the
// record.
func (l locator) response(req *fetch.Request, r apdu.Record) (*fetch.Response, []byte, error) {
	media, body, err := l.document(r)
	if err != nil {
		return nil, nil, err
	}
	size := int64(len(body))
	first, end, err := selection.Bounds(req, "", size, "record")
	if err != nil {
		return nil, nil, err
	}
	return &fetch.Response{Kind: fetch.Document, Media: media, Proto: proto, Size: size, Offset: first}, body[first:end], nil
}
