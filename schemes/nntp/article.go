package nntp

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Media types of articles, headers and batches.
const (
	articleMedia = "message/rfc822"
	headMedia    = "text/rfc822-headers"
	batchMedia   = "application/x-rnews"
)

// successCodes maps each command that retrieves an article to its success
// status code (RFC 3977 6.2).
var successCodes = map[string]int{"ARTICLE": 220, "HEAD": 221, "BODY": 222}

// article retrieves one article, or the part of the article that view selects,
// such as its header.
func (d *driver) article(q *task, s *session, view View) (*fetch.Response, error) {
	verb := view.verb()
	var r line.Reply
	var err error
	if q.kind == kindMessageID {
		r, err = s.command(verb, q.id)
	} else {
		r, err = s.commandInGroup(q.group, verb, q.rangeText())
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkReply(r, verb, q.locator); err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Document, Code: r.Code}
	if view == Body {
		resp.Body = io.NopCloser(s.dataBlock())
		return resp, nil
	}
	block := s.newTimedReader(s.Lines.Block(0))
	head, rest := rfc822.ReadHeader(block)
	resp.Header = rfc822.ParseHeader(head)
	resp.Time = rfc822.ParseDate(resp.Header.Get("Date"))
	resp.Media = articleMedia
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(head), rest))
	if view == Head {
		resp.Head = head
	}
	if d.View == Head {
		resp.Media = headMedia // a Stat request also uses HEAD, but its response describes the complete article
	}
	resp.Unchanged = selection.Excludes(q.req, "", resp.Time)
	if q.req.Op != fetch.Stat {
		if block.removeDeadline(); resp.Unchanged {
			resp.Body = nil
			s.Break() // do not read the remaining bytes of the article
		}
		return resp, nil
	}
	resp.Body = nil
	if n, err := io.Copy(io.Discard, io.LimitReader(rest, 1)); n > 0 || err != nil {
		s.Break()
		if err == nil {
			err = fetch.TooLarge.Errorf("header of the article is longer than %d bytes", rfc822.MaxHeader)
		}
		return nil, sessions.BlockFault(err)
	}
	return resp, nil
}

// commandInGroup selects a group and sends a command. It pipelines both
// commands if the server supports pipelining.
func (s *session) commandInGroup(group string, command ...string) (line.Reply, error) {
	pipelined := s.caps.supportsRFC3977()
	err := s.AddCommand("GROUP", group)
	if err == nil && pipelined {
		err = s.AddCommand(command...)
	}
	if err != nil {
		s.Break()
		return line.Reply{}, err
	}
	r, err := s.readReply()
	if err != nil {
		return r, err
	}
	if r.Code != 211 {
		if pipelined && !s.IsBroken() {
			s.discardReply()
		}
		return r, statusError("GROUP", r)
	}
	if !pipelined {
		return s.command(command...)
	}
	return s.readReply()
}

// checkReply returns an error unless r is the success reply to the article
// command verb. If the reply contains an unexpected article number, the session
// becomes unusable, because the replies no longer match the commands.
func (s *session) checkReply(r line.Reply, verb string, l locator) error {
	if r.Code != successCodes[verb] {
		if isMultiline(r) {
			s.Break()
		}
		return statusError(verb, r)
	}
	if l.kind == kindMessageID {
		return nil
	}
	if n, _ := numberAndID(r); n != 0 && n != l.first {
		s.Break()
		return fetch.Protocol.Errorf("%s %d: server replied with article %d", verb, l.first, n)
	}
	return nil
}
