package gopher

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// Items of type 2 are phone books: they speak a protocol of their own, RFC
// 2378 (ph, also called CSO). The words of the URL are the query, "john doe" or
// "name=john return email"; the selector is not used.

// askPhone sends a query. The body is the answer's lines up to the one that
// ends it.
func (d *driver) askPhone(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	sent := []byte("query " + l.words + "\r\nquit\r\n")
	s, err := d.send(ctx, req, sent, sent)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Menu, Media: phMedia, Size: -1, Proto: "ph", Peer: fetch.PeerOf(s.NetConn), TLS: s.TLS}
	out := &phoneReader{r: s.r}
	if err = s.begin(); err == nil {
		resp.Code, resp.Fault, err = out.begin()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	resp.Body = &body{out, s}
	return resp, nil
}

// maxPhoneLine bounds a line of an answer.
const maxPhoneLine = 8 << 10

// A phoneReader passes on the lines of an answer up to the last one.
type phoneReader struct {
	r   *bufio.Reader
	out []byte
	err error
}

// begin reads the first line, which may refuse the query.
func (p *phoneReader) begin() (code int, fault, err error) {
	p.next()
	if p.err != nil && p.err != io.EOF {
		return 0, nil, p.err
	}
	code, _, _ = phoneLine(p.out)
	return max(code, -code), phoneFault(p.out), nil
}

func (p *phoneReader) Read(b []byte) (int, error) {
	if len(p.out) == 0 && p.err == nil {
		p.next()
	}
	if len(p.out) == 0 {
		return 0, p.err
	}
	n := copy(b, p.out)
	p.out = p.out[n:]
	return n, nil
}

// next reads a line. One with a code of 200 or more is the last: io.EOF, or
// what it says where a query fails after its first line.
func (p *phoneReader) next() {
	first := p.out == nil
	text, err := p.r.ReadSlice('\n')
	switch {
	case err == io.EOF:
		p.err = fetch.Truncated.Errorf("phone book ended its answer early: %w", io.ErrUnexpectedEOF)
		return
	case err == bufio.ErrBufferFull || len(text) > maxPhoneLine:
		p.err = fetch.Protocol.Errorf("line longer than %d bytes", maxPhoneLine)
		return
	case err != nil:
		p.err = err
		return
	}
	code, _, ok := phoneLine(text)
	switch {
	case !ok:
		p.err = fetch.Protocol.Errorf("not a line of a phone book: %s", tty.Escape(string(bytes.TrimRight(text[:min(len(text), 60)], "\r\n"))))
		return
	case code >= 200:
		p.err = io.EOF
		if fault := phoneFault(text); fault != nil && !first {
			p.err = fault
		}
	}
	p.out = text
}

// phoneLine reads "code:rest"; a negative code says that more lines of this
// kind follow.
func phoneLine(text []byte) (code int, rest string, ok bool) {
	number, rest, ok := strings.Cut(strings.TrimRight(string(text), "\r\n"), ":")
	code, err := strconv.Atoi(strings.TrimSpace(number))
	return code, rest, ok && err == nil
}

// phoneFault classes the codes of RFC 2378 that end a query in vain.
func phoneFault(text []byte) error {
	code, rest, _ := phoneLine(text)
	fault := fetch.Denied
	switch {
	case code < 400:
		return nil
	case code == 501:
		fault = fetch.NotFound // no entry matches
	case code == 475, code < 500:
		fault = fetch.TryLater
	case code == 502:
		fault = fetch.TooLarge // too many match
	case code == 503, code == 504, code == 506:
		fault = fetch.Auth
	case code == 507, code == 512, code == 515, code == 599:
		fault = fetch.BadURL // the query names a field that there is not, or none that is indexed
	}
	return fault.Errorf("phone book says: %s", tty.Escape(strings.TrimSpace(rest)))
}

// phoneEntries reads an answer as a listing: an entry a person, its fields in
// Extra. They lead nowhere.
func phoneEntries(r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		var p person
		for text, err := range textLines(r) {
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			code, rest, ok := phoneLine(text)
			index, field, isField := strings.Cut(rest, ":")
			index = strings.TrimSpace(index)
			if !ok || code >= 0 || !isField || !isNumber(index) {
				continue // how many were found; the end
			}
			if p.index != index {
				if p.raw != nil && !yield(p.entry(), nil) {
					return
				}
				p = person{index: index, fields: map[string][]string{}}
			}
			p.add(string(text), field)
			if p.size > maxPerson {
				yield(fetch.Entry{}, fetch.TooLarge.Errorf("more than %d bytes of one person", maxPerson))
				return
			}
		}
		if p.raw != nil {
			yield(p.entry(), nil)
		}
	}
}

// A person is an entry while its lines come.
type person struct {
	index  string
	raw    []string
	field  string // the last one
	fields map[string][]string
	size   int
}

// maxPerson bounds what there may be of one.
const maxPerson = 1 << 20

// add reads "name: John Doe"; a line without a name goes on with the field
// before.
func (p *person) add(raw, text string) {
	name, value, _ := strings.Cut(text, ":")
	if name = decode(strings.TrimSpace(name)); name != "" {
		p.field = name
	}
	p.fields[p.field] = append(p.fields[p.field], decode(strings.TrimSpace(value)))
	p.raw = append(p.raw, raw)
	p.size += len(raw)
}

func (p *person) entry() fetch.Entry {
	extra := make(map[string]string, len(p.fields))
	for name, values := range p.fields {
		extra[name] = strings.Join(values, "\n")
	}
	return fetch.Entry{Name: extra["name"], Kind: fetch.Info, Size: -1, Raw: strings.Join(p.raw, "\n"), Extra: extra}
}
