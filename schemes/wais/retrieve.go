package wais

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/internal/selection"
)

// unknown is the end of a document whose length is not known.
const unknown = math.MaxInt64

// part returns the range of the document that a request selects.
func (l locator) part(req *fetch.Request) (r z3950.Retrieval, err error) {
	r = z3950.Retrieval{Database: l.database, ID: []byte(l.document.id), Type: []byte(l.document.kind), Unit: z3950.Bytes, End: unknown}
	if l.lines != nil {
		r.Unit, r.Start, r.End = z3950.Lines, l.lines.first, l.lines.end
		return r, nil
	}
	want := selection.Range(req, l.document.validator())
	switch size := l.document.length; {
	case size >= 0:
		r.Start, r.End, err = selection.Bounds(req, l.document.validator(), size, "document")
		if err != nil {
			return r, err
		}
	case want.First < 0:
		return r, fetch.Unsupported.Errorf("a range from the end needs a URL that contains the length of the document")
	case want.End > 0:
		r.Start, r.End = want.First, max(want.First, want.End)
	default:
		r.Start = want.First
	}
	if req.Op == fetch.Stat && r.Start < r.End { // request one unit to check that the document exists
		r.End = r.Start + 1
	}
	return r, nil
}

// validator returns a string for resuming a transfer, made from the id and
// length of the document. It does not detect a changed document of equal
// length. It is "" if the length is unknown.
func (d *document) validator() string {
	if d.length < 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(d.kind + "/" + d.id))
	return fmt.Sprintf("%d-%x", d.length, sum[:16])
}

// retrieve requests a document and returns its response.
func (d *driver) retrieve(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	r, err := l.part(req)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{
		Kind: fetch.Document, Media: mediaOf(l.document.kind), Proto: proto, Body: http.NoBody,
		Size: l.document.length, Offset: r.Start, Validator: l.document.validator(),
	}
	if l.document.kind == sourceType {
		resp.Kind = fetch.Menu
	}
	if l.lines != nil {
		resp.Size, resp.Offset, resp.Validator = -1, 0, ""
	}
	if r.Start == r.End {
		return resp, nil
	}
	c := &chunks{rest: r}
	_, err = d.request(ctx, req, usualSize, func(l *lease) (*fetch.Response, error) { return resp, c.start(l) })
	switch {
	case errors.Is(err, errNoAnswer):
		return nil, cmp.Or(d.probe(ctx, req, l.database), err)
	case err != nil:
		return nil, err
	case req.Op == fetch.Stat:
		return resp, c.Close()
	}
	resp.Body = c
	return resp, nil
}

// proto is the name of the protocol in responses.
const proto = "WAIS"
