package gopher

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/uri"
)

// A header is the first line of a Gopher+ answer: "+43", "--1".
type header struct {
	bad    bool  // an error text follows
	length int64 // bytes; or byDot, byClose
	line   []byte
}

const (
	byDot   = -1
	byClose = -2
)

// maxHeader bounds the first line: a sign, a number and the end.
const maxHeader = 24

// readHeader reads the first line of an answer to a Gopher+ request. It is
// false where that line is something else: many servers take a Gopher+
// request for a plain one, and some plain menus begin with "+".
func readHeader(r *bufio.Reader) (h header, ok bool, err error) {
	line, err := peekLine(r, maxHeader, "+-")
	if err != nil || line == nil {
		if err == io.EOF {
			err = fetch.Protocol.Errorf("no answer to a Gopher+ request")
		}
		return h, false, err
	}
	number := strings.TrimSuffix(strings.TrimSuffix(string(line[1:]), "\n"), "\r")
	if !isNumber(number) {
		return h, false, nil
	}
	h = header{bad: line[0] == '-', line: bytes.Clone(line)}
	h.length, err = strconv.ParseInt(number, 10, 64)
	if err != nil || h.length < byClose {
		return h, false, fetch.Protocol.Errorf("Gopher+ answer of impossible length")
	}
	r.Discard(len(line))
	return h, true, nil
}

// isNumber reports whether s is digits, perhaps behind a minus.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// data is what follows h, up to where h says that it ends.
func (h header) data(r *bufio.Reader) io.Reader {
	switch h.length {
	case byDot:
		return newBlock(r)
	case byClose:
		return r
	}
	return &exact{r, h.length}
}

// exact reads so many bytes, and no less.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readPlus reads what follows a Gopher+ header.
func (d *driver) readPlus(req *fetch.Request, l locator, s *session, h header) (*fetch.Response, error) {
	resp := &fetch.Response{Size: -1, Proto: "Gopher+", Head: h.line}
	out := &body{h.data(s.r), s}
	resp.Body = out
	if h.bad {
		return d.readError(req, resp, out)
	}
	if h.length >= 0 {
		resp.Size = h.length
	}
	switch l.plus.verb {
	case '!', '$':
		resp.Media = plusMedia
	default:
		resp.Media = l.plus.media()
		if resp.Media == "" {
			begun, _ := s.r.Peek(s.r.Buffered())
			resp.Media = mediaOf(l.item, l.selector, begun)
		}
	}
	resp.Kind = kindOf(resp.Media)
	if typeOf(l.item).framing == asText && strings.HasPrefix(resp.Media, "text/") {
		resp.Media += charset(s.r)
	}
	return resp, nil
}

// media is the media type of the view that was asked for, or "".
func (c command) media() string {
	media, _, _ := strings.Cut(strings.ToLower(c.arg), " ")
	return media
}

// maxError bounds an error text.
const maxError = 16 << 10

// readError reads a Gopher+ error: a code and the administrator on the first
// line, then what went wrong or, where the item has moved, where it is now.
func (d *driver) readError(req *fetch.Request, resp *fetch.Response, out *body) (*fetch.Response, error) {
	page, err := io.ReadAll(io.LimitReader(out, maxError))
	if err != nil && len(page) == 0 {
		return nil, err
	}
	resp.Kind, resp.Media = fetch.Document, "text/plain"
	resp.Body = &body{bytes.NewReader(page), out.session}
	first, rest, _ := strings.Cut(string(page), "\n")
	code, _, _ := strings.Cut(strings.TrimSpace(first), " ")
	resp.Code, _ = strconv.Atoi(code)
	if resp.Code == 3 {
		if to, ok := movedTo(req.URL, rest); ok {
			resp.Location = to
			return resp, nil
		}
	}
	message := errorText(rest)
	if message == "" {
		message = cmp.Or(strings.TrimSpace(first), "no reason")
	}
	resp.Fault = plusFault(resp.Code).Errorf("server says: %s", tty.Escape(message))
	return resp, nil
}

// plusFault classes the codes of the Gopher+ memo, 2.3.
func plusFault(code int) fetch.Fault {
	switch code {
	case 1, 3:
		return fetch.NotFound
	case 2:
		return fetch.TryLater
	}
	return fetch.Denied
}

// errorText is the first line of an error's text. UMN gopherd writes it as an
// item of type 0.
func errorText(rest string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(rest, "\r\n"), "\n")
	line = strings.TrimRight(line, "\r")
	if name, _, ok := strings.Cut(line, "\t"); ok && name != "" {
		return name[1:]
	}
	return strings.TrimSpace(line)
}

// movedTo reads the descriptor of an item that has moved.
func movedTo(base uri.URI, rest string) (uri.URI, bool) {
	line, _, _ := strings.Cut(rest, "\n")
	e := newMenuParser(base).entry([]byte(strings.TrimRight(line, "\r")))
	return e.URL, !e.URL.IsZero()
}
