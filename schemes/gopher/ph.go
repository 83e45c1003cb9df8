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
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// Gopher items of type 2 are phone books, which use the protocol of RFC 2378
// (ph, also called CSO). The search words of the URL are the query, such as
// "john doe" or "name=john return email". The selector is not used.

// queryPhoneBook sends a query to a phone book server. The body of the Response
// contains the response lines up to the final status line.
func (d *driver) queryPhoneBook(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	sent := []byte("query " + l.words + "\r\nquit\r\n")
	s, err := d.send(ctx, req, sent, sent)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) {
		if err := s.AwaitResponse(); err != nil {
			return nil, err
		}
		out := &phoneReader{r: s.R}
		resp := &fetch.Response{URL: req.URL, Kind: fetch.Menu, Media: phMedia, Size: -1, Proto: "ph", Body: s.Body(out)}
		resp.Code, resp.Fault, err = out.readStatus()
		return resp, err
	})
}

// maxPhoneLine is the maximum length of a response line of a phone book server,
// in bytes.
const maxPhoneLine = 8 << 10

// A phoneReader reads the response lines of a phone book server up to the final
// status line.
type phoneReader struct {
	r   *bufio.Reader
	out []byte
	err error
}

// readStatus reads the first response line and returns its status code. If the
// server rejected the query, fault is not nil.
func (p *phoneReader) readStatus() (code int, fault, err error) {
	p.readLine()
	if p.err != nil && p.err != io.EOF {
		return 0, nil, p.err
	}
	code, _, _ = phoneLine(p.out)
	return max(code, -code), phoneFault(p.out), nil
}

func (p *phoneReader) Read(b []byte) (int, error) {
	return sessions.ReadPending(b, &p.out, &p.err, p.readLine)
}

// readLine reads the next response line. A line with a status code of 200 or
// more is the last line. After this line, p.err is io.EOF, or the error in the
// last line if other lines precede it.
func (p *phoneReader) readLine() {
	first := p.out == nil
	text, err := p.r.ReadSlice('\n')
	switch {
	case err == io.EOF:
		p.err = fetch.Truncated.Errorf("phone book server closed the connection within the response: %w", io.ErrUnexpectedEOF)
		return
	case err == bufio.ErrBufferFull || len(text) > maxPhoneLine:
		p.err = fetch.Protocol.Errorf("phone book line longer than %d bytes", maxPhoneLine)
		return
	case err != nil:
		p.err = err
		return
	}
	code, _, ok := phoneLine(text)
	switch {
	case !ok:
		prefix := bytes.TrimRight(text[:min(len(text), 60)], "\r\n")
		p.err = fetch.Protocol.Errorf("invalid response line of a phone book server: %s", tty.Escape(string(prefix)))
		return
	case code >= 200:
		p.err = io.EOF
		if fault := phoneFault(text); fault != nil && !first {
			p.err = fault
		}
	}
	p.out = text
}

// phoneLine parses a response line of the form "code:text". A negative code
// means that more lines of the same response follow.
func phoneLine(text []byte) (code int, rest string, ok bool) {
	number, rest, ok := strings.Cut(strings.TrimRight(string(text), "\r\n"), ":")
	code, err := strconv.Atoi(strings.TrimSpace(number))
	return code, rest, ok && err == nil
}

// phoneFault returns the fault for an error code of RFC 2378, or nil if the
// code is not an error.
func phoneFault(text []byte) error {
	code, rest, _ := phoneLine(text)
	fault := fetch.Denied
	switch {
	case code < 400:
		return nil
	case code == 501:
		fault = fetch.NotFound // no matches
	case code == 475, code < 500:
		fault = fetch.TryLater
	case code == 502:
		fault = fetch.TooLarge // too many matches
	case code == 503, code == 504, code == 506:
		fault = fetch.Auth
	case code == 507, code == 512, code == 515, code == 599:
		fault = fetch.BadURL // unknown field, or no indexed field in the query
	}
	return fault.Errorf("phone book server replied: %s", textform.Excerpt(strings.TrimSpace(rest)))
}

// phoneEntries parses the response of a phone book server as a listing with one
// entry for each person. Entry.Extra contains the fields of the person. The
// entries have no URL.
func phoneEntries(r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		var p person
		for text, err := range textform.Lines(r, maxLine) {
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			code, rest, ok := phoneLine(text)
			index, field, isField := strings.Cut(rest, ":")
			index = strings.TrimSpace(index)
			if !ok || code >= 0 || !isField || !isNumber(index) {
				continue // this line contains the number of matches or the final status
			}
			if p.index != index {
				if p.raw != nil && !yield(p.entry(), nil) {
					return
				}
				p = person{index: index, fields: map[string][]string{}}
			}
			p.add(string(text), field)
			if p.size > maxPerson {
				yield(fetch.Entry{}, fetch.TooLarge.Errorf("phone book entry exceeds %d bytes", maxPerson))
				return
			}
		}
		if p.raw != nil {
			yield(p.entry(), nil)
		}
	}
}

// A person collects the response lines that describe one person in a phone
// book.
type person struct {
	index  string
	raw    []string
	field  string // name of the last field
	fields map[string][]string
	size   int
}

// maxPerson is the maximum size of the data about one person, in bytes.
const maxPerson = 1 << 20

// add parses a response line, such as "name: John Doe", and adds it to p. A
// line without a name continues the previous field.
func (p *person) add(raw, text string) {
	name, value, _ := strings.Cut(text, ":")
	if name = textform.UTF8(strings.TrimSpace(name)); name != "" {
		p.field = name
	}
	p.fields[p.field] = append(p.fields[p.field], textform.UTF8(strings.TrimSpace(value)))
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
