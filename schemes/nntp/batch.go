package nntp

import (
	"fmt"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// maxBatched bounds an article of a batch, whose length stands before it. A
// single article may have any length.
const maxBatched = 8 << 20

// batch joins the articles of a range as rnews batches do: "#! rnews LENGTH"
// before each (RFC 1036 appendix).
func (d *driver) batch(q *query, s *session, view View) (*fetch.Response, error) {
	p, err := d.part(q, s, false)
	if err != nil {
		return nil, err
	}
	if p.empty && !p.since && q.kind == byRange {
		return nil, fetch.NotFound.Errorf("no article in the range: %s has %d to %d", p.name, p.low, p.high)
	}
	if p.empty {
		return p.nothing(fetch.Document, batchMedia), nil
	}
	if err := d.compress(s, p.last-p.first, false); err != nil {
		return nil, err
	}
	r := &series{s: s, verb: view.verb(), source: newNumbers(s, p.name, p.first, p.last), each: func(dst []byte, _ uint64, _ string, block *line.Block) ([]byte, error) {
		return s.batched(dst, block)
	}}
	r.fill()
	switch {
	case len(r.out) > 0:
	case r.err != io.EOF:
		return nil, r.err
	case !p.since && q.kind == byRange:
		return nil, fetch.NotFound.Errorf("no article in the range")
	default:
		return p.nothing(fetch.Document, batchMedia), nil
	}
	body := d.marking(q, p, r, func() Mark { return r.seen })
	return &fetch.Response{Kind: fetch.Document, Media: batchMedia, Code: answers[r.verb], Body: body}, nil
}

// batched appends one article and what stands before it.
func (s *session) batched(dst []byte, block *line.Block) ([]byte, error) {
	var room [len("#! rnews \n") + 20]byte
	start := len(dst)
	dst = append(dst, room[:]...)
	dst, err := s.take(dst, maxBatched, block)
	if err != nil {
		return dst, err
	}
	size := len(dst) - start - len(room)
	mark := fmt.Appendf(nil, "#! rnews %d\n", size)
	copy(dst[start:], mark)
	n := copy(dst[start+len(mark):], dst[start+len(room):])
	return dst[:start+len(mark)+n], nil
}
