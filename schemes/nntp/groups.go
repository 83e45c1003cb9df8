package nntp

import (
	"io"
	"mime"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// The media types of other listings.
const (
	activeMedia      = "text/x-nntp-active"       // name high low status
	descriptionMedia = "text/x-nntp-descriptions" // name description
	idsMedia         = "text/x-nntp-ids"          // message-ids
)

// groups lists the groups that a wildmat matches.
func (d *driver) listGroups(q *task, s *session) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: activeMedia}
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	tries := [][]string{{"LIST", "ACTIVE", q.wildmat}, {"LIST"}}
	switch {
	case !q.req.Since.IsZero():
		tries = [][]string{{"NEWGROUPS", formatTime(q.req.Since, s.caps.supportsRFC3977())}}
	case d.Describe:
		resp.Media = descriptionMedia
		tries = [][]string{{"LIST", "NEWSGROUPS", q.wildmat}, {"LIST", "NEWSGROUPS"}}
	case q.wildmat == "*" && !s.caps.supportsRFC3977():
		tries = tries[1:]
	}
	if q.wildmat == "*" {
		if err := d.startCompression(s, minCompressed, true); err != nil {
			return nil, err
		}
	}
	for i, words := range tries {
		r, err := s.command(words...)
		if err != nil {
			return nil, err
		}
		resp.Code = r.Code
		switch {
		case r.Code == 215 || r.Code == 231:
			resp.Body = io.NopCloser(s.dataBlock())
			if q.wildmat != "*" && words[len(words)-1] != q.wildmat {
				resp.Body = io.NopCloser(newGroupFilter(q.wildmat, resp.Body))
			}
			return resp, nil
		case i == len(tries)-1 || !isUnsupported(r):
			return nil, statusError(words[0], r)
		}
	}
	return resp, nil
}

// newArticles lists the message-ids that have come to a group (RFC 3977 7.4).
// Many servers do not tell: then everything is listed.
func (d *driver) listNewArticles(q *task, s *session) (*fetch.Response, error) {
	r, err := s.command("NEWNEWS", q.group, formatTime(q.req.Since, s.caps.supportsRFC3977()))
	switch {
	case err != nil:
		return nil, err
	case r.Code == 230:
		return &fetch.Response{Kind: fetch.Menu, Media: idsMedia, Code: r.Code, Body: io.NopCloser(s.dataBlock())}, nil
	case !isUnsupported(r) && r.Code != 502:
		return nil, statusError("NEWNEWS", r)
	}
	q.req.Trace.Notef("server does not tell what is new by time: all is listed")
	return d.overview(q, s)
}

// field lists articles by one header field or item of metadata (RFC 3977 8.5);
// old servers know it as XHDR.
func (d *driver) listField(q *task, s *session) (*fetch.Response, error) {
	p, err := d.selectRange(q, s, false)
	media := mime.FormatMediaType("text/x-nntp-hdr", map[string]string{"field": d.Field})
	if err != nil {
		return nil, err
	}
	if p.empty {
		return p.emptyResponse(fetch.Menu, media), nil
	}
	if err := d.startCompression(s, p.last-p.first, true); err != nil {
		return nil, err
	}
	var r line.Reply
	for _, verb := range []string{"HDR", "XHDR"} {
		r, err = s.command(verb, d.Field, locator{first: p.first, last: p.last}.rangeText())
		switch {
		case err != nil:
			return nil, err
		case r.Code == 225, r.Code == 221:
			return &fetch.Response{Kind: fetch.Menu, Media: media, Code: r.Code, Body: io.NopCloser(s.dataBlock())}, nil
		case r.Code == 420, r.Code == 423:
			return p.emptyResponse(fetch.Menu, media), nil
		case !isUnsupported(r):
			return nil, statusError(verb, r)
		}
	}
	return nil, statusError("XHDR", r)
}
