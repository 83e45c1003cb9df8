package nntp

import (
	"bytes"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/internal/wire/line"
)

// overviewMedia returns the media type of an overview with the given fields. If
// fields is nil, it uses the standard fields.
func overviewMedia(fields []string) string {
	if fields == nil {
		fields = standardFields
	}
	return mime.FormatMediaType("text/x-nntp-overview", map[string]string{"fields": strings.Join(fields, ",")})
}

// overview lists articles from the overview database of the server. If the
// server has no overview, it builds the listing from article headers.
func (d *driver) overview(q *task, s *session) (*fetch.Response, error) {
	p, err := d.selectRange(q, s, true)
	switch {
	case err != nil:
		return nil, err
	case p.empty && q.kind == kindNumber:
		return nil, fetch.NotFound.Errorf("no article with this number: %s has articles %d to %d", p.name, p.low, p.high)
	case p.empty:
		return p.emptyResponse(fetch.Menu, overviewMedia(s.fields)), nil
	}
	if err := d.startCompression(s, p.last-p.first, true); err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(s.fields)}
	verb, r, err := s.firstSupported(s.overviewVerbs(), locator{first: p.first, last: p.last}.rangeText())
	resp.Code = r.Code
	switch {
	case err != nil:
		return nil, err
	case r.Code == 224:
		tail := &lastLineReader{r: s.dataBlock()}
		index := slices.Index(s.fields, "message-id")
		resp.Body = d.recordMark(q, p, tail, func() Mark { return tail.mark(index) })
		if p.placeholder {
			resp.Doubt = placeholderDoubt
		}
		return resp, nil
	case r.Code == 420, r.Code == 423:
		return p.emptyResponse(fetch.Menu, resp.Media), nil
	case !isUnsupported(r):
		return nil, statusError(verb, r)
	}
	q.req.Trace.Notef("server does not support overviews: fetching the headers of all articles")
	return d.overviewFromHeads(q, s, p)
}

// articleOverview reads the header of one article and returns its overview
// line.
func (d *driver) articleOverview(q *task, s *session) (*fetch.Response, error) {
	r, err := s.command("HEAD", q.id)
	if err != nil {
		return nil, err
	}
	if err := s.checkReply(r, "HEAD", q.locator); err != nil {
		return nil, err
	}
	text, err := s.overviewLine(nil, 0, q.id, s.Lines.Block(0))
	if err != nil {
		s.Break()
		return nil, err
	}
	return &fetch.Response{
		Kind:  fetch.Menu,
		Media: overviewMedia(standardFields),
		Code:  r.Code,
		Body:  io.NopCloser(bytes.NewReader(text)),
	}, nil
}

// overviewVerbs returns the commands for an overview in order of preference.
func (s *session) overviewVerbs() []string {
	if s.caps.has("OVER") {
		return []string{"OVER", "XOVER"}
	}
	return []string{"XOVER"}
}

// isUnsupported reports whether a reply means that the server does not support
// the command.
func isUnsupported(r line.Reply) bool { return r.Code == 500 || r.Code == 501 || r.Code == 503 }

func (d *driver) overviewFromHeads(q *task, s *session, p articleRange) (*fetch.Response, error) {
	r := &pipeline{s: s, verb: "HEAD", source: newNumberSource(s, p.name, p.first, p.last), appendArticle: s.overviewLine}
	r.fill()
	if len(r.unread) == 0 && r.err != io.EOF {
		return nil, r.err
	}
	body := d.recordMark(q, p, r, func() Mark { return r.last })
	return &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(standardFields), Code: 221, Body: body}, nil
}

// overviewLine appends the overview line of an article with the standard fields
// (RFC 3977 8.3.2). It reads the header of the article from block. The size
// field is empty, because the size of the article is unknown.
func (s *session) overviewLine(dst []byte, number uint64, id string, block *line.Block) ([]byte, error) {
	text, err := s.appendBlock(nil, rfc822.MaxHeader, block)
	if err != nil {
		return dst, err
	}
	head := rfc822.ParseHeader(text)
	dst = append(dst, formatNumber(number)...)
	for _, name := range standardFields {
		value := head.Get(name)
		if name == "message-id" && value == "" {
			value = id
		}
		if name == "bytes" {
			value = ""
		}
		dst = append(append(dst, '\t'), fieldReplacer.Replace(value)...)
	}
	return append(dst, "\r\n"...), nil
}

// fieldReplacer replaces TAB, CR, LF and NUL by spaces, because these
// characters would end a field or a line.
var fieldReplacer = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "\x00", " ")

// A lastLineReader is a reader that keeps a copy of the last complete line.
type lastLineReader struct {
	r             io.Reader
	last, partial []byte
	tooLong       bool // the current line is longer than maxLastLine
}

const maxLastLine = 16 << 10 // bytes

func (l *lastLineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	rest := p[:n]
	if end := bytes.LastIndexByte(rest, '\n'); end >= 0 {
		begin := bytes.LastIndexByte(rest[:end], '\n') + 1
		if begin > 0 {
			l.partial, l.tooLong = l.partial[:0], false
		}
		l.appendPartial(rest[begin:end])
		l.last, l.partial = l.partial, l.last[:0]
		if l.tooLong {
			l.last = l.last[:0]
		}
		l.tooLong, rest = false, rest[end+1:]
	}
	l.appendPartial(rest)
	return n, err
}

func (l *lastLineReader) appendPartial(text []byte) {
	if l.tooLong = l.tooLong || len(l.partial)+len(text) > maxLastLine; !l.tooLong {
		l.partial = append(l.partial, text...)
	}
}

// mark returns the article number and the message-id in the last line. The
// message-id is the field with the given index after the article number.
func (l *lastLineReader) mark(index int) Mark {
	fields := strings.Split(strings.TrimSuffix(string(l.last), "\r"), "\t")
	n, ok := parseNumber(fields[0])
	if !ok || index < 0 || index+1 >= len(fields) {
		return Mark{}
	}
	return Mark{n, fields[index+1]}
}
