package mail

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// These are the media types of messages and message parts.
const (
	messageMedia = "message/rfc822"
	headerMedia  = "text/rfc822-headers"
	defaultMedia = "text/plain" // type of a part without Content-Type (RFC 2045 5.2)
)

// message returns a response with the message that the URL names, or with a
// section of the message.
func (s *session) message(q *task) (*fetch.Response, error) {
	req := q.req
	resp := &fetch.Response{Kind: fetch.Document, Media: mediaOf(q.section), Size: -1, Validator: s.validator(q)}
	if selection.Excludes(req, resp.Validator, resp.Time) {
		resp.Unchanged = true
		return resp, nil
	}
	if err := s.fetchMetadata(q, resp); err != nil {
		return nil, err
	}
	switch {
	case selection.Excludes(req, resp.Validator, resp.Time):
		resp.Unchanged = true
		return resp, nil
	case req.Op == fetch.Stat:
		return resp, nil
	}
	return resp, s.fetchContent(q, resp)
}

// mediaOf returns the media type of a message section. It returns "" if the
// media type depends on the message.
func mediaOf(section string) string {
	switch {
	case section == "":
		return messageMedia
	case strings.Contains(section, "HEADER"), strings.HasSuffix(section, "MIME"):
		return headerMedia
	}
	return ""
}

// validator returns the text "UIDVALIDITY.UID", which identifies the message
// permanently (RFC 3501 2.3.1.1). It returns "" for a sequence number, because
// sequence numbers change.
func (s *session) validator(q *task) string {
	if q.uid == 0 || s.mailbox.validity == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", s.mailbox.validity, q.uid)
}

// fetchMetadata requests the header and the size of the message if they are
// required before the content, for example to evaluate a date condition. For an
// ordinary download it sends no command, because each command costs a round
// trip.
func (s *session) fetchMetadata(q *task, resp *fetch.Response) error {
	req := q.req
	if mime := mimeSection(q.section); mime != "" {
		head, err := s.fetchHeader(q, "BODY.PEEK["+mime+"]")
		if err != nil {
			return err
		}
		resp.Header = rfc822.ParseHeader(head.text)
		if resp.Media = resp.Header.Get("Content-Type"); resp.Media == "" {
			resp.Media = defaultMedia
		}
		return nil
	}
	if req.Op == fetch.Get && req.Range.IsZero() && req.Since.IsZero() && req.Before.IsZero() {
		return nil
	}
	head, err := s.fetchHeader(q, "(RFC822.SIZE BODY.PEEK[HEADER])")
	if err != nil {
		return err
	}
	resp.Header = rfc822.ParseHeader(head.text)
	resp.Time = rfc822.ParseDate(resp.Header.Get("Date"))
	if q.section == "" && head.messageSize >= 0 {
		resp.Size = q.sizeOfPartial(head.messageSize)
	}
	return nil
}

// A fetchedHeader holds the header of a message or a part.
type fetchedHeader struct {
	text        []byte
	messageSize int64
}

func (s *session) fetchHeader(q *task, items string) (fetchedHeader, error) {
	l, err := s.fetchSection(q, items)
	if err != nil {
		return fetchedHeader{}, err
	}
	if l == nil {
		return fetchedHeader{}, errAbsent
	}
	text, err := l.readAll(rfc822.MaxHeader)
	if err == nil && len(text) == 0 {
		err = errAbsent
	}
	return fetchedHeader{text, l.messageSize}, err
}

// errAbsent is the error for a message or section that does not exist. Dovecot
// sends an empty header for a missing part. The header of an existing part is
// never empty, because it ends with an empty line.
var errAbsent error = fetch.NotFound.Errorf("no such message or part")

// sizeOfPartial returns the number of bytes that the PARTIAL parameter selects
// from an object of size bytes.
func (l *locator) sizeOfPartial(size int64) int64 {
	size = max(size-l.partialOffset, 0)
	if l.partialLength > 0 {
		size = min(size, l.partialLength)
	}
	return size
}

// fetchContent requests the content and stores a reader for it in resp.Body.
func (s *session) fetchContent(q *task, resp *fetch.Response) error {
	want := selection.Range(q.req, resp.Validator)
	if resp.Size >= 0 && !want.IsZero() {
		first, end, err := selection.Bounds(q.req, resp.Validator, resp.Size, "object")
		switch {
		case err != nil:
			return err
		case first == end && first > 0:
			resp.Offset = first // the caller already has the complete content
			return nil
		}
		want.First = first
	}
	l, err := s.fetchSection(q, "BODY.PEEK["+q.section+"]"+q.partialSpec(want))
	if err != nil {
		return err
	}
	if l == nil {
		return errAbsent
	}
	if l.size == 0 && resp.Media == headerMedia && q.partialOffset == 0 && want.IsZero() {
		l.readAll(0)
		return errAbsent
	}
	if err := s.selectRange(q, resp, l, want); err != nil {
		return err
	}
	if q.section == "" && q.partialOffset == 0 && resp.Offset == 0 && resp.Header == nil {
		s.awaitReply() // fetch.Client limits the time of body reads, but not of this header
		head, rest := rfc822.ReadHeader(resp.Body)
		s.SetReplyTimeout(0)
		resp.Header = rfc822.ParseHeader(head)
		resp.Time = rfc822.ParseDate(resp.Header.Get("Date"))
		resp.Body = sessions.NewBody(io.MultiReader(bytes.NewReader(head), rest), func() { l.Close() })
	}
	return nil
}

// partialSpec returns the byte range for the FETCH command, such as "<0.1024>".
// The range combines the PARTIAL parameter of the URL with the requested range.
// If the requested range counts from the end, partialSpec ignores it, because
// the first byte is unknown.
func (l *locator) partialSpec(want fetch.Range) string {
	first, length := l.partialOffset, l.partialLength
	if want.First > 0 || want.End > 0 && want.First == 0 {
		first += want.First
		if length > 0 {
			length = max(length-want.First, 1)
		}
		if want.End > 0 && (length == 0 || want.End-want.First < length) {
			length = want.End - want.First
		}
	}
	if first == 0 && length == 0 {
		return ""
	}
	if length == 0 {
		length = maxNumber
	}
	return "<" + strconv.FormatInt(first, 10) + "." + strconv.FormatInt(length, 10) + ">"
}

// selectRange sets resp.Body to a reader for the requested range of the
// literal. The literal is the complete section if the server ignored the range.
// It is also complete if the requested range counts from the end.
func (s *session) selectRange(q *task, resp *fetch.Response, l *literal, want fetch.Range) error {
	skip, left := int64(0), l.size
	switch {
	case l.fromStart:
		resp.Size = q.sizeOfPartial(l.size)
		first, end, ok := want.Bounds(resp.Size)
		if !ok {
			first, end = resp.Size, resp.Size
		}
		resp.Offset, skip, left = first, q.partialOffset+first, end-first
	case l.offset != q.partialOffset+max(want.First, 0):
		l.abort()
		return fetch.Protocol.Errorf("server sent the range from byte %d instead of %d",
			l.offset, q.partialOffset+max(want.First, 0))
	case q.partialLength > 0 && l.size > q.partialLength, want.End > 0 && want.First >= 0 && l.size > want.End-want.First:
		l.abort()
		return fetch.Protocol.Errorf("server sent %d bytes, more than requested", l.size)
	case want.First < 0:
		first, end, _ := want.Bounds(l.size)
		resp.Size, resp.Offset, skip, left = l.size, first, first, end-first
	case want.IsZero():
		resp.Size = l.size
	default:
		resp.Offset = want.First
	}
	resp.Body = &window{literal: l, skip: skip, remaining: left}
	return nil
}

// A window reads a range of bytes from a literal. After the range, it also
// reads and discards the remaining bytes, because the literal must be read
// completely.
type window struct {
	*literal
	sessions.Skip
	skip, remaining int64
}

func (w *window) Read(p []byte) (int, error) {
	if w.skip > 0 {
		n, err := w.Discard(w.literal, w.skip)
		if w.skip -= n; err != nil {
			return 0, err
		}
	}
	if w.remaining == 0 {
		_, err := w.Discard(w.literal, math.MaxInt64)
		return 0, err
	}
	n, err := w.literal.Read(p[:min(int64(len(p)), w.remaining)])
	w.remaining -= int64(n)
	return n, err
}
