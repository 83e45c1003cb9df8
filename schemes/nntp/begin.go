package nntp

import "github.com/anyurl/fetch/fetch"

// begin sends the commands for q up to the beginning of its answer. The Body
// that it returns reads the answer to its end; nil stands for an empty one.
func (d *driver) begin(q *query, s *session) (*fetch.Response, error) {
	view, stat := d.viewOf(q.locator, q.req.Op), q.req.Op == fetch.Stat
	d.noteTimes(q, view)
	switch {
	case q.kind == ofGroups:
		return d.groups(q, s)
	case q.kind == byID && view == Overview:
		return d.overviewOf(q, s)
	case q.kind == byID, q.kind == byNumber && view != Overview:
		return d.article(q, s, view)
	case stat:
		return d.statGroup(q, s)
	case d.asksNews(q.locator, q.req):
		return d.newArticles(q, s)
	case view == Overview && d.Field != "":
		return d.field(q, s)
	case view == Overview:
		return d.overview(q, s)
	}
	return d.batch(q, s, view)
}

// noteTimes tells of a condition that cannot be held to: NNTP knows the time
// since when of its listings, and an article tells its own.
func (d *driver) noteTimes(q *query, view View) {
	article := (q.kind == byID || q.kind == byNumber) && (view == Whole || view == Head)
	since := article || q.kind == ofGroups || d.asksNews(q.locator, q.req)
	if !q.req.Since.IsZero() && !since || !q.req.Before.IsZero() && !article {
		q.req.Trace.Notef("nntp cannot tell these by time: all come")
	}
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
	if g.pseudo {
		q.req.Trace.Notef("%s", doubt)
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
