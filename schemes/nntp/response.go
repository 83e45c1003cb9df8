package nntp

import "github.com/anyurl/fetch/fetch"

// startResponse sends the commands for a request and reads the first line of
// the response. The Body of the result reads the remaining lines. A nil Body
// means empty content.
func (d *driver) startResponse(q *task, s *session) (*fetch.Response, error) {
	view, stat := d.viewOf(q.locator, q.req.Op), q.req.Op == fetch.Stat
	d.noteIgnoredTimes(q, view)
	switch {
	case q.kind == kindGroupList:
		return d.listGroups(q, s)
	case q.kind == kindMessageID && view == Overview:
		return d.articleOverview(q, s)
	case q.kind == kindMessageID, q.kind == kindNumber && view != Overview:
		return d.article(q, s, view)
	case stat:
		return d.statGroup(q, s)
	case d.listsNewArticles(q.locator, q.req):
		return d.listNewArticles(q, s)
	case view == Overview && d.Field != "":
		return d.listField(q, s)
	case view == Overview:
		return d.overview(q, s)
	}
	return d.batch(q, s, view)
}

// noteIgnoredTimes reports to the trace if the driver cannot apply a time
// condition of the request. NNTP supports only Since, and only for listings.
// For single articles, the driver itself checks the Date field.
func (d *driver) noteIgnoredTimes(q *task, view View) {
	article := (q.kind == kindMessageID || q.kind == kindNumber) && (view == Complete || view == Head)
	since := article || q.kind == kindGroupList || d.listsNewArticles(q.locator, q.req)
	if !q.req.Since.IsZero() && !since || !q.req.Before.IsZero() && !article {
		q.req.Trace.Notef("nntp does not support this time condition: ignoring it")
	}
}

func (d *driver) statGroup(q *task, s *session) (*fetch.Response, error) {
	g, err := s.selectGroup(q.group, false)
	if err != nil {
		return nil, err
	}
	return &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(nil), Code: 211, Header: g.header()}, nil
}

// An articleRange is the range of articles in a group that a request retrieves.
// It excludes numbers outside of the group and articles that earlier runs have
// retrieved.
type articleRange struct {
	group
	first, last uint64 // article numbers, both inclusive
	incremental bool   // Options.After or a mark excludes articles
	empty       bool
}

// selectRange selects a newsgroup and returns the range of articles to
// retrieve.
func (d *driver) selectRange(q *task, s *session, overview bool) (articleRange, error) {
	g, err := s.selectGroup(q.group, overview)
	if err != nil {
		return articleRange{}, err
	}
	if g.placeholder {
		q.req.Trace.Notef("%s", placeholderDoubt)
	}
	p, ok := articleRange{group: g}, false
	after, err := d.skippedUpTo(q, s, g)
	if err != nil {
		return p, err
	}
	p.incremental = after > 0 && q.kind != kindNumber
	first := q.first
	if p.incremental {
		first = max(first, after+1)
	}
	p.first, p.last, ok = g.intersect(first, q.last)
	p.empty = !ok
	return p, nil
}

// emptyResponse returns the response for a range without articles. If a mark or
// Options.After excludes articles, Response.Unchanged is true.
func (p articleRange) emptyResponse(kind fetch.Kind, media string) *fetch.Response {
	return &fetch.Response{Kind: kind, Media: media, Code: 211, Unchanged: p.incremental}
}
