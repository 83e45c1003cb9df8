package nntp

import (
	"io"
	"mime"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// Media types of listings of newsgroups and of message-ids.
const (
	activeMedia      = "text/x-nntp-active"       // lines "NAME HIGH LOW STATUS"
	descriptionMedia = "text/x-nntp-descriptions" // lines "NAME DESCRIPTION"
	idsMedia         = "text/x-nntp-ids"          // lines with a message-id
)

// listGroups lists the newsgroups that match a wildmat, such as "comp.*".
func (d *driver) listGroups(q *task, s *session) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: activeMedia}
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	commands := [][]string{{"LIST", "ACTIVE", q.wildmat}, {"LIST"}}
	switch {
	case !q.req.Since.IsZero():
		commands = [][]string{{"NEWGROUPS", formatTime(q.req.Since, s.caps.supportsRFC3977())}}
	case d.Describe:
		resp.Media = descriptionMedia
		commands = [][]string{{"LIST", "NEWSGROUPS", q.wildmat}, {"LIST", "NEWSGROUPS"}}
	case q.wildmat == "*" && !s.caps.supportsRFC3977():
		commands = commands[1:]
	}
	if q.wildmat == "*" {
		if err := d.startCompression(s, minCompressed, true); err != nil {
			return nil, err
		}
	}
	for i, command := range commands {
		r, err := s.command(command...)
		if err != nil {
			return nil, err
		}
		resp.Code = r.Code
		switch {
		case r.Code == 215 || r.Code == 231:
			resp.Body = io.NopCloser(s.dataBlock())
			if q.wildmat != "*" && command[len(command)-1] != q.wildmat {
				resp.Body = io.NopCloser(newGroupFilter(q.wildmat, resp.Body))
			}
			return resp, nil
		case i == len(commands)-1 || !isUnsupported(r):
			return nil, statusError(command[0], r)
		}
	}
	return resp, nil
}

// listNewArticles lists the message-ids of the articles that arrived in the
// group after Request.Since (NEWNEWS, RFC 3977 7.4). If the server does not
// support NEWNEWS, it lists all articles.
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
	q.req.Trace.Notef("server does not support NEWNEWS: listing all articles")
	return d.overview(q, s)
}

// listField lists one header field or metadata item for each article in a range
// (RFC 3977 8.5). It uses XHDR if the server does not support HDR.
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
	verb, r, err := s.firstSupported([]string{"HDR", "XHDR"}, d.Field, locator{first: p.first, last: p.last}.rangeText())
	switch {
	case err != nil:
		return nil, err
	case r.Code == 225, r.Code == 221:
		return &fetch.Response{Kind: fetch.Menu, Media: media, Code: r.Code, Body: io.NopCloser(s.dataBlock())}, nil
	case r.Code == 420, r.Code == 423:
		return p.emptyResponse(fetch.Menu, media), nil
	}
	return nil, statusError(verb, r)
}

// firstSupported sends the verbs with the same arguments, until the server
// supports one of them. It returns the last verb and its reply.
func (s *session) firstSupported(verbs []string, args ...string) (verb string, r line.Reply, err error) {
	for _, verb = range verbs {
		r, err = s.command(append([]string{verb}, args...)...)
		if err != nil || !isUnsupported(r) {
			break
		}
	}
	return verb, r, err
}
