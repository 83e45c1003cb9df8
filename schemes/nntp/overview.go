package nntp

import (
	"bytes"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/rfc822"
)

// overviewMedia is the media type of an overview with these fields; nil stands
// for the standard ones.
func overviewMedia(fields []string) string {
	if fields == nil {
		fields = standardFields
	}
	return mime.FormatMediaType("text/x-nntp-overview", map[string]string{"fields": strings.Join(fields, ",")})
}

// overview lists articles by the server's overview, or from their heads where
// it has none.
func (d *driver) overview(q *task, s *session) (*fetch.Response, error) {
	p, err := d.selectRange(q, s, true)
	switch {
	case err != nil:
		return nil, err
	case p.empty && q.kind == kindNumber:
		return nil, fetch.NotFound.Errorf("no such number: %s has %d to %d", p.name, p.low, p.high)
	case p.empty:
		return p.emptyResponse(fetch.Menu, overviewMedia(s.fields)), nil
	}
	if err := d.startCompression(s, p.last-p.first, true); err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(s.fields)}
	for _, verb := range s.overviewVerbs() {
		r, err := s.command(verb, locator{first: p.first, last: p.last}.rangeText())
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
	}
	q.req.Trace.Notef("server has no overview: it is made from the heads of articles")
	return d.overviewFromHeads(q, s, p)
}

// overviewOf makes the line of one article from its head.
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
	return &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(standardFields), Code: r.Code, Body: io.NopCloser(bytes.NewReader(text))}, nil
}

// overviewVerbs are the commands for an overview in the order of their merits.
func (s *session) overviewVerbs() []string {
	if s.caps.has("OVER") {
		return []string{"OVER", "XOVER"}
	}
	return []string{"XOVER"}
}

// unknown reports whether r says that the server lacks the command.
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

// overviewLine makes the line of an article from its head, with the standard
// fields (RFC 3977 8.3.2). Nobody tells its size.
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

// oneLine keeps a value within its field.
var fieldReplacer = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "\x00", " ")

// lastLine passes lines on and keeps the last whole one.
type lastLineReader struct {
	r             io.Reader
	last, partial []byte
	tooLong       bool // the present line is too long to be kept
}

const maxLastLine = 16 << 10

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

// mark reads the article that the last line tells of; at is the place of its
// message-id among the fields behind the number.
func (l *lastLineReader) mark(index int) Mark {
	fields := strings.Split(strings.TrimSuffix(string(l.last), "\r"), "\t")
	n, ok := parseNumber(fields[0])
	if !ok || index < 0 || index+1 >= len(fields) {
		return Mark{}
	}
	return Mark{n, fields[index+1]}
}
