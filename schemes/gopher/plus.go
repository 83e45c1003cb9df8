package gopher

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A header is the first line of a Gopher+ response, such as "+43" or "--1".
type header struct {
	isError bool  // an error message follows
	length  int64 // length of the data in bytes, or untilDot or untilClose
	line    []byte
}

const (
	untilDot   = -1
	untilClose = -2
)

// maxHeader is the maximum length of the first line of a Gopher+ response, in
// bytes, including the line end.
const maxHeader = 24

// readHeader reads the first line of the response to a Gopher+ request. It
// returns false if this line is not a Gopher+ header. Many servers treat a
// Gopher+ request as a plain one, and some plain menus begin with "+".
func readHeader(r *bufio.Reader) (h header, ok bool, err error) {
	line, err := peekLine(r, maxHeader, "+-")
	if err != nil || line == nil {
		if err == io.EOF {
			err = fetch.Protocol.Errorf("server closed the connection without a response to a Gopher+ request")
		}
		return h, false, err
	}
	number := strings.TrimSuffix(strings.TrimSuffix(string(line[1:]), "\n"), "\r")
	if !isNumber(number) {
		return h, false, nil
	}
	h = header{isError: line[0] == '-', line: bytes.Clone(line)}
	h.length, err = strconv.ParseInt(number, 10, 64)
	if err != nil || h.length < untilClose {
		return h, false, fetch.Protocol.Errorf("invalid length in a Gopher+ header")
	}
	r.Discard(len(line))
	return h, true, nil
}

// isNumber reports whether s consists of digits after an optional minus sign.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// dataReader returns a reader of the data that follows the header of a Gopher+
// response.
func (h header) dataReader(r *bufio.Reader) io.Reader {
	switch h.length {
	case untilDot:
		return newDotBlock(r)
	case untilClose:
		return r
	}
	return &exactReader{r, h.length}
}

// An exactReader reads exactly remaining bytes. It returns io.ErrUnexpectedEOF
// if the input is shorter.
type exactReader struct {
	r         io.Reader
	remaining int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.remaining == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.remaining)])
	if e.remaining -= int64(n); err == io.EOF && e.remaining > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readPlus returns the Response for a Gopher+ response whose first line, the
// header h, was already read.
func (d *driver) readPlus(req *fetch.Request, l locator, s *sessions.Single, h header) (*fetch.Response, error) {
	resp := &fetch.Response{URL: req.URL, Size: -1, Proto: "Gopher+", Head: h.line}
	resp.Body = s.Body(h.dataReader(s.R))
	if h.isError {
		return d.readError(req, resp, s)
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
			prefix, _ := s.R.Peek(s.R.Buffered())
			resp.Media = mediaOf(l.item, l.selector, prefix)
		}
	}
	resp.Kind = kindOf(resp.Media)
	if typeOf(l.item).framing == textFraming && strings.HasPrefix(resp.Media, "text/") {
		resp.Media += media.Charset(s.R)
	}
	return resp, nil
}

// media returns the media type of the requested Gopher+ view, or "".
func (c command) media() string {
	media, _, _ := strings.Cut(strings.ToLower(c.arg), " ")
	return media
}

// maxError is the maximum length of a Gopher+ error message, in bytes.
const maxError = 16 << 10

// readError converts a Gopher+ error response to a Response with a Fault or a
// Location. The first line contains an error code and the administrator. The
// next lines contain the error message or, if the item has moved, its new menu
// line.
func (d *driver) readError(req *fetch.Request, resp *fetch.Response, s *sessions.Single) (*fetch.Response, error) {
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil && len(page) == 0 {
		return nil, err
	}
	resp.Kind, resp.Media = fetch.Document, "text/plain"
	resp.Body = s.Body(bytes.NewReader(page))
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
		message = cmp.Or(strings.TrimSpace(first), "no error message")
	}
	resp.Fault = plusFault(resp.Code).Errorf("server replied: %s", textform.Excerpt(message))
	return resp, nil
}

// plusFault returns the fault for a Gopher+ error code (Gopher+ memo, section
// 2.3).
func plusFault(code int) fetch.Fault {
	switch code {
	case 1, 3:
		return fetch.NotFound
	case 2:
		return fetch.TryLater
	}
	return fetch.Denied
}

// errorText returns the first line of a Gopher+ error message. UMN gopherd
// sends the message as a menu item of type 0, of which errorText returns the
// name.
func errorText(rest string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(rest, "\r\n"), "\n")
	line = strings.TrimRight(line, "\r")
	if name, _, ok := strings.Cut(line, "\t"); ok && name != "" {
		return name[1:]
	}
	return strings.TrimSpace(line)
}

// movedTo returns the new URL of an item that has moved. It parses the new menu
// line of the item, the first line of rest.
func movedTo(base uri.URI, rest string) (uri.URI, bool) {
	line, _, _ := strings.Cut(rest, "\n")
	e := newMenuParser(base).entry([]byte(strings.TrimRight(line, "\r")))
	return e.URL, !e.URL.IsZero()
}
