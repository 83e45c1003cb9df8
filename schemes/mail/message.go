package mail

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
)

// The media types of what messages bring.
const (
	messageMedia = "message/rfc822"
	headMedia    = "text/rfc822-headers"
	defaultMedia = "text/plain" // of a part that does not say: RFC 2045 5.2
)

// message brings the message of q, or the part of it that is asked for.
func (s *session) message(q *task) (*fetch.Response, error) {
	req := q.req
	resp := &fetch.Response{Kind: fetch.Document, Media: mediaOf(q.section), Size: -1, Validator: s.validator(q)}
	if req.IfNot != "" && req.IfNot == resp.Validator {
		resp.Unchanged = true
		return resp, nil
	}
	if err := s.fetchMetadata(q, resp); err != nil {
		return nil, err
	}
	switch {
	case !req.Since.IsZero() && !resp.Time.IsZero() && !resp.Time.After(req.Since), !req.Before.IsZero() && resp.Time.After(req.Before):
		resp.Unchanged = true
		return resp, nil
	case req.Op == fetch.Stat:
		return resp, nil
	}
	return resp, s.fetchContent(q, resp)
}

// mediaOf is what section is, where that is known beforehand.
func mediaOf(section string) string {
	switch {
	case section == "":
		return messageMedia
	case strings.Contains(section, "HEADER"), strings.HasSuffix(section, "MIME"):
		return headMedia
	}
	return ""
}

// validator names one message for ever (RFC 3501 2.3.1.1). A number within the
// mailbox names nothing for long.
func (s *session) validator(q *task) string {
	if q.uid == 0 || s.mailbox.validity == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", s.mailbox.validity, q.uid)
}

// describe asks for what must be known before the content is asked for, if
// anything must: it costs a turn.
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

// A head is a small section, and what came with it.
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

// errAbsent is the error where nothing answers to a number. Dovecot sends an
// empty header for a part that does not exist; one that does ends in an empty
// line.
var errAbsent error = fetch.NotFound.Errorf("no such message, or no such part of it")

// ofPartial is the size of what PARTIAL leaves of an object of that size.
func (l *locator) sizeOfPartial(size int64) int64 {
	size = max(size-l.partialOffset, 0)
	if l.partialLength > 0 {
		size = min(size, l.partialLength)
	}
	return size
}

// content begins the Body of resp.
func (s *session) fetchContent(q *task, resp *fetch.Response) error {
	want := q.req.Range
	if q.req.IfSame != "" && q.req.IfSame != resp.Validator {
		want = fetch.Range{}
	}
	if resp.Size >= 0 && !want.IsZero() {
		first, _, ok := want.Bounds(resp.Size)
		switch {
		case !ok && first != resp.Size:
			return fetch.Denied.Errorf("range begins at byte %d of %d", first, resp.Size)
		case !ok:
			resp.Offset = first // all of it is there already
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
	if l.size == 0 && resp.Media == headMedia && q.partialOffset == 0 && want.IsZero() {
		l.readAll(0)
		return errAbsent
	}
	if err := s.selectRange(q, resp, l, want); err != nil {
		return err
	}
	if q.section == "" && q.partialOffset == 0 && resp.Offset == 0 && resp.Header == nil {
		s.awaitReply() // nobody looks after its speed yet
		head, rest := rfc822.ReadHeader(resp.Body)
		s.SetReplyTimeout(0)
		resp.Header = rfc822.ParseHeader(head)
		resp.Time = rfc822.ParseDate(resp.Header.Get("Date"))
		resp.Body = &bodyCloser{Reader: io.MultiReader(bytes.NewReader(head), rest), Closer: l}
	}
	return nil
}

// partial asks for the bytes that PARTIAL and want have in common, or for
// everything where nobody knows where want begins.
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

// cut makes Body what was wanted of l: servers that know no parts of sections
// send all, and what counts from the end was asked for whole.
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
		return fetch.Protocol.Errorf("server sends the bytes from %d, not those from %d", l.offset, q.partialOffset+max(want.First, 0))
	case q.partialLength > 0 && l.size > q.partialLength, want.End > 0 && want.First >= 0 && l.size > want.End-want.First:
		l.abort()
		return fetch.Protocol.Errorf("server sends %d bytes, more than it was asked for", l.size)
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

// A window is a part of a literal, all of which is read.
type window struct {
	*literal
	skip, remaining int64
}

func (w *window) Read(p []byte) (int, error) {
	if w.skip > 0 {
		n, err := io.CopyN(io.Discard, w.literal, w.skip)
		if w.skip -= n; err != nil {
			return 0, err
		}
	}
	if w.remaining == 0 {
		_, err := io.Copy(io.Discard, w.literal)
		if err == nil {
			err = io.EOF
		}
		return 0, err
	}
	n, err := w.literal.Read(p[:min(int64(len(p)), w.remaining)])
	w.remaining -= int64(n)
	return n, err
}

// joined reads from one place until it is closed, and closes another.
type bodyCloser struct {
	io.Reader
	io.Closer
	closed atomic.Bool
}

func (j *bodyCloser) Read(p []byte) (int, error) {
	if j.closed.Load() {
		return 0, net.ErrClosed
	}
	return j.Reader.Read(p)
}

func (j *bodyCloser) Close() error {
	j.closed.Store(true)
	return j.Closer.Close()
}
