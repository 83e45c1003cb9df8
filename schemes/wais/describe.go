package wais

import (
	"context"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/wais/z3950"
)

// maxSource bounds the description of a database.
const maxSource = 256 << 10

// describe tells what a database is: asked without words, a server names the
// document that describes it.
func (d *driver) describe(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Index, Size: -1, Proto: proto, Body: empty()}
	ctx, cancel := context.WithTimeoutCause(ctx, replyTime, fetch.Timeout.Errorf("server did not describe the database within %v", replyTime))
	defer cancel()
	var t *turn
	err := d.take(ctx, req, usualSize, func(turn *turn) (err error) {
		t = turn
		resp.Head, err = t.source(l.database)
		return err
	})
	if err != nil {
		return nil, err
	}
	resp.Peer = fetch.PeerOf(t.conn)
	t.end(true)
	if resp.Head == nil {
		req.Trace.Notef("server has no description of the database")
		return resp, nil
	}
	if s, err := parseSource(resp.Head); err == nil {
		resp.Header = s.header()
	}
	return resp, nil
}

// source brings the description of a database; nil: there is none.
func (t *turn) source(database string) ([]byte, error) {
	l, fault, err := t.describing(database)
	if err != nil || fault != nil || l == nil {
		if err == nil {
			err = fault
		}
		return nil, err
	}
	c := &chunks{rest: z3950.Retrieval{Database: database, ID: []byte(l.id), Type: []byte(l.kind), Unit: z3950.Bytes, End: maxSource}}
	if l.length >= 0 {
		c.rest.End = min(l.length, maxSource)
	}
	if err := c.begin(t); err != nil {
		return nil, err
	}
	return io.ReadAll(c)
}

// describing finds the document that describes a database.
func (t *turn) describing(database string) (found *document, fault, err error) {
	if err := t.search((&search{}).request(database, 40)); err != nil {
		return nil, nil, err
	}
	for {
		r, err := t.record()
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
