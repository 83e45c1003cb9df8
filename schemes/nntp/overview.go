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
func (d *driver) overview(q *query, s *session) (*fetch.Response, error) {
	p, err := d.part(q, s, true)
	switch {
	case err != nil:
		return nil, err
	case p.empty && q.kind == byNumber:
		return nil, fetch.NotFound.Errorf("no such number: %s has %d to %d", p.name, p.low, p.high)
	case p.empty:
		return p.nothing(fetch.Menu, overviewMedia(s.fields)), nil
	}
	if err := d.compress(s, p.last-p.first, true); err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(s.fields)}
	for _, verb := range s.overviewVerbs() {
		r, err := s.ask(verb, locator{first: p.first, last: p.last}.numbers())
		resp.Code = r.Code
		switch {
		case err != nil:
			return nil, err
		case r.Code == 224:
			tail := &lastLine{r: s.block()}
			at := slices.Index(s.fields, "message-id")
			resp.Body = d.marking(q, p, tail, func() Mark { return tail.mark(at) })
			if p.pseudo {
				resp.Doubt = doubt
			}
			return resp, nil
		case r.Code == 420, r.Code == 423:
			return p.nothing(fetch.Menu, resp.Media), nil
		case !unknown(r):
			return nil, refused(verb, r)
		}
	}
	q.req.Trace.Notef("server has no overview: it is made from the heads of articles")
	return d.overviewFromHeads(q, s, p)
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
func unknown(r line.Reply) bool { return r.Code == 500 || r.Code == 501 || r.Code == 503 }

func (d *driver) overviewFromHeads(q *query, s *session, p part) (*fetch.Response, error) {
	r := &series{s: s, verb: "HEAD", source: newNumbers(s, p.name, p.first, p.last), each: s.overviewLine}
	r.fill()
	if len(r.out) == 0 && r.err != io.EOF {
		return nil, r.err
	}
	body := d.marking(q, p, r, func() Mark { return r.seen })
	return &fetch.Response{Kind: fetch.Menu, Media: overviewMedia(standardFields), Code: 221, Body: body}, nil
}

// overviewLine makes the line of an article from its head, with the standard
// fields (RFC 3977 8.3.2). Nobody tells its size.
func (s *session) overviewLine(dst []byte, number uint64, id string, block *line.Block) ([]byte, error) {
	text, err := s.take(nil, rfc822.MaxHeader, block)
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
		dst = append(append(dst, '\t'), oneLine.Replace(value)...)
	}
	return append(dst, "\r\n"...), nil
}

// oneLine keeps a value within its field.
var oneLine = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "\x00", " ")

// lastLine passes lines on and keeps the last whole one.
type lastLine struct {
	r          io.Reader
	last, part []byte
	skipping   bool // the present line is too long to be kept
}

const maxKept = 16 << 10

func (l *lastLine) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	rest := p[:n]
	if end := bytes.LastIndexByte(rest, '\n'); end >= 0 {
		begin := bytes.LastIndexByte(rest[:end], '\n') + 1
		if begin > 0 {
			l.part, l.skipping = l.part[:0], false
		}
		l.keep(rest[begin:end])
		l.last, l.part = l.part, l.last[:0]
		if l.skipping {
			l.last = l.last[:0]
		}
		l.skipping, rest = false, rest[end+1:]
	}
	l.keep(rest)
	return n, err
}

func (l *lastLine) keep(text []byte) {
	if l.skipping = l.skipping || len(l.part)+len(text) > maxKept; !l.skipping {
		l.part = append(l.part, text...)
	}
}

// mark reads the article that the last line tells of; at is the place of its
// message-id among the fields behind the number.
func (l *lastLine) mark(at int) Mark {
	fields := strings.Split(strings.TrimSuffix(string(l.last), "\r"), "\t")
	n, ok := parseNumber(fields[0])
	if !ok || at < 0 || at+1 >= len(fields) {
		return Mark{}
	}
	return Mark{n, fields[at+1]}
}
