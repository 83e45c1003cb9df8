package nntp

import (
	"bytes"
	"fmt"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// begin sends the commands for q up to the beginning of its answer. The Body
// that it returns reads the answer to its end; nil stands for an empty one.
func (d *driver) begin(q *query, s *session) (*fetch.Response, error) {
	view, stat := d.viewOf(q.locator, q.req.Op), q.req.Op == fetch.Stat
	switch {
	case q.kind == ofGroups:
		return d.groups(q, s)
	case q.kind == byID && view == Overview:
		return d.overviewOf(q, s)
	case q.kind == byID, q.kind == byNumber && view != Overview:
		return d.article(q, s, view)
	case stat:
		return d.statGroup(q, s)
	case d.asksNews(q.locator, q.req.Op):
		return d.newArticles(q, s)
	case view == Overview && d.Field != "":
		return d.field(q, s)
	case view == Overview:
		return d.overview(q, s)
	}
	return d.batch(q, s, view)
}

func (d *driver) statGroup(q *query, s *session) (*fetch.Response, error) {
	g, err := s.selectGroup(q.group, false)
	if err != nil {
		return nil, err
	}
	return &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(nil), Code: 211, Header: g.header()}, nil
}

// A part is what is left of a range once the server has told what there is,
// and what earlier runs have brought is left out.
type part struct {
	group
	first, last uint64 // what the server has
	since       bool   // something was left out, whether or not anything is left
	empty       bool
}

// part selects the group of q.
func (d *driver) part(q *query, s *session, overview bool) (part, error) {
	g, err := s.selectGroup(q.group, overview)
	if err != nil {
		return part{}, err
	}
	p, ok := part{group: g}, false
	after, err := d.after(q, s, g)
	if err != nil {
		return p, err
	}
	p.since = after > 0 && q.kind != byNumber
	first := q.first
	if p.since {
		first = max(first, after+1)
	}
	p.first, p.last, ok = g.within(first, q.last)
	p.empty = !ok
	return p, nil
}

// nothing is the answer where a part is empty. After a mark that is no error:
// there is nothing new.
func (p part) nothing(kind fetch.Kind, media string) *fetch.Response {
	return &fetch.Response{Kind: kind, Media: media, Code: 211, Unchanged: p.since}
}

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
	body := d.marking(q, r, func() Mark { return r.seen })
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

// overviewOf makes the line of one article from its head.
func (d *driver) overviewOf(q *query, s *session) (*fetch.Response, error) {
	r, err := s.ask("HEAD", q.id)
	if err != nil {
		return nil, err
	}
	if err := s.answered(r, "HEAD", q.locator); err != nil {
		return nil, err
	}
	text, err := s.overviewLine(nil, 0, q.id, s.lines.Block(0))
	if err != nil {
		s.broken = true
		return nil, err
	}
	return &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(standardFields), Code: r.Code, Body: io.NopCloser(bytes.NewReader(text))}, nil
}
