package wais

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// maxSource is the maximum size of a database description, in bytes.
const maxSource = 256 << 10

// describe returns the description of a database. To find this description, it
// sends a search without words, which servers answer with the description's id.
func (d *driver) describe(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Index, Size: -1, Proto: proto, Body: http.NoBody}
	ctx, cancel := context.WithTimeoutCause(ctx, replyTime, fetch.Timeout.Errorf("server did not describe the database within %v", replyTime))
	defer cancel()
	named := false
	_, err := d.request(ctx, req, usualSize, func(lease *lease) (_ *fetch.Response, err error) {
		if resp.Head, named, err = description(lease, l.database); err == nil {
			lease.End(true)
		}
		return resp, err
	})
	// freeWAIS may list a description without checking that the database
	// exists, and crashes when it retrieves the text.
	if err == nil && len(bytes.TrimSpace(resp.Head)) == 0 || named && errors.Is(err, errNoAnswer) {
		if missing := d.probe(ctx, req, l.database); missing != nil {
			err = missing
		}
	}
	if err != nil {
		return nil, err
	}
	if len(resp.Head) == 0 {
		req.Trace.Notef("server has no description of the database")
		return resp, nil
	}
	if s, err := parseSource(resp.Head); err == nil {
		resp.Header = s.header()
	}
	return resp, nil
}

// probe searches a database for a common word, to find out whether the database
// exists. It returns the server's diagnostic if the database does not exist or
// is not accessible.
func (d *driver) probe(ctx context.Context, req *fetch.Request, database string) (missing error) {
	d.request(ctx, req, usualSize, func(l *lease) (*fetch.Response, error) {
		missing = nil
		s := l.Session
		if err := s.search((&search{words: "fetch"}).request(database, 1)); err != nil {
			return nil, err
		}
		for {
			r, err := s.record()
			switch {
			case err == io.EOF:
				l.End(true)
				return new(fetch.Response), nil
			case err != nil:
				return nil, err
			case r.Kind == z3950.Diagnosis && (r.Diagnostic.Code == "S1" || r.Diagnostic.Code == "T2"):
				missing = diagnosis(r.Diagnostic)
			}
		}
	})
	return missing
}

// description requests the description of a database. It returns nil if there
// is no description. The result named is true if the server listed a
// description.
func description(lease *lease, database string) (text []byte, named bool, err error) {
	l, fault, err := lease.Session.describing(database)
	if err == nil {
		err = fault
	}
	if err != nil || l == nil {
		return nil, false, err
	}
	c := &chunks{rest: z3950.Retrieval{Database: database, ID: []byte(l.id), Type: []byte(l.kind), Unit: z3950.Bytes, End: maxSource}}
	if l.length >= 0 {
		c.rest.End = min(l.length, maxSource)
	}
	if err := c.start(lease); err != nil {
		return nil, true, err
	}
	text, err = io.ReadAll(c)
	return text, true, err
}

// describing finds the document that describes a database.
func (s *session) describing(database string) (found *document, fault, err error) {
	if err := s.search((&search{}).request(database, 40)); err != nil {
		return nil, nil, err
	}
	for {
		r, err := s.record()
		switch {
		case err == io.EOF:
			return found, fault, nil
		case err != nil:
			return nil, nil, err
		case r.Kind == z3950.Diagnosis:
			fault = diagnosis(r.Diagnostic)
		case found == nil && len(r.Types) > 0 && string(r.Types[0]) == sourceType && len(r.ID) > 0:
			found = &document{kind: sourceType, id: string(r.ID), length: -1}
			if r.Length.Set {
				found.length = int64(r.Length.Value)
			}
		}
	}
}
