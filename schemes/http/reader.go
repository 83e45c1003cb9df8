package http

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"

	"github.com/anyurl/fetch/fetch"
)

// A reader reads one response of HTTP/1 (RFC 9112), as strictly as nothing of
// Old is borne. It takes from the connection what belongs to the response and
// not one byte more, and is the body of it.
//
// Some framings that the standard refuses read in one way only, and browsers
// take them: they are borne always, with a note, and the connection is asked
// nothing more, so that whatever hides behind an odd framing never becomes the
// beginning of another response. What reads in two ways is an error.
type reader struct {
	Old
	noBody bool
	trace  *fetch.Trace
	ctx    context.Context
	conn   *conn
	lease  *lease
	got    func([]byte) // hears what is taken; may be nil

	head    []byte // all before the body, interim responses included
	proto   string
	minor   byte // of the version
	code    int
	header  fetch.Header
	length  int64 // of the body; -1: not known
	endless bool  // its Content-Length is more than any object has
	left    int64 // of a body of known length
	trailer fetch.Header

	made    exchange // of all this
	body    io.Reader
	keep    bool // the server will answer another request
	bounded bool // the end of the body is not that of the connection
	spent   bool // there was something odd
	closed  atomic.Bool
}

// nothing is a body without a byte.
var nothing io.Reader = http.NoBody

func (r *reader) Read(p []byte) (int, error) {
	if r.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := r.body.Read(p)
	if err != nil {
		r.finish(err == io.EOF)
		if err != io.EOF {
			err = bodyFault(r.ctx, err)
		}
	}
	return n, err
}

// Close may be called beside Read.
func (r *reader) Close() error {
	r.closed.Store(true)
	r.finish(false)
	return nil
}

// deviates notes what is borne, or is the error where nothing is.
func (r *reader) deviates(format string, args ...any) error {
	if !r.Tolerant {
		return fetch.Protocol.Errorf(format, args...)
	}
	r.trace.Notef("deviation: "+format, args...)
	return nil
}

// odd notes what is borne always.
func (r *reader) odd(what string) {
	if !r.spent {
		r.trace.Notef("deviation: %s", what)
	}
	r.spent = true
}

// heard tells the trace what was taken.
func (r *reader) heard(p []byte) {
	if r.got != nil && len(p) > 0 {
		r.got(p)
	}
}

// take reads what is there of the response.
func (r *reader) take(p []byte) (int, error) {
	n, err := r.conn.r.Read(p)
	r.heard(p[:n])
	return n, err
}

var errLong = errors.New("line too long")

// line appends the next line to dst, which may grow to limit bytes.
func (r *reader) line(dst []byte, limit int) ([]byte, error) {
	for {
		part, err := r.conn.r.ReadSlice('\n')
		r.heard(part)
		if dst = append(dst, part...); len(dst) > limit {
			return dst, errLong
		}
		if err != bufio.ErrBufferFull {
			return dst, err
		}
	}
}

// response reads up to the body.
func (r *reader) response() error {
	r.head = r.conn.head[:0] // whose memory is used again
	for range maxInterim + 1 {
		if is, err := r.isHead(); !is {
			return r.without(err)
		}
		start := len(r.head)
		lines, err := r.readHead()
		if err != nil {
			return err
		}
		status, folded, _ := strings.Cut(string(r.head[start:]), "\n")
		fields := r.unfold(folded)
		r.head = append(r.head[:len(r.head)-len(folded)], fields...)
		if err := r.status(strings.TrimSuffix(status, "\r")); err != nil {
			return err
		}
		if r.header, err = r.fields(fields, lines); err != nil {
			return err
		}
		if r.code < 100 || r.code > 199 || r.code == 101 {
			r.conn.head, r.head = r.head, bytes.Clone(r.head)
			return r.frame()
		}
	}
	return fetch.Protocol.Errorf("more than %d interim responses", maxInterim)
}

// isHead reports whether a status line comes next. Blank lines before it are
// a deviation.
func (r *reader) isHead() (bool, error) {
	for range 4 {
		start, err := r.conn.r.Peek(1)
		if err != nil {
			return false, err
		}
		if start[0] != '\r' && start[0] != '\n' || !r.Tolerant {
			break
		}
		before := len(r.head)
		if r.head, err = r.line(r.head, maxHead); err != nil || !blank(r.head[before:]) {
			return false, err
		}
		r.deviates("blank line before the status line")
	}
	start, _ := r.conn.r.Peek(len("HTTP/"))
	switch text := string(start); {
	case text == "HTTP/":
		return true, nil
	case strings.EqualFold(text, "HTTP/"), strings.HasPrefix(text, "ICY "):
		return r.Tolerant, nil
	}
	return false, nil
}

// without takes what comes for an object without a head.
func (r *reader) without(err error) error {
	switch {
	case err != nil && len(r.head) == 0:
		return err
	case !r.Accept09 || r.noBody:
		return fetch.Protocol.Errorf("reply without a head")
	}
	r.trace.Notef("deviation: reply without a head, taken for HTTP/0.9")
	r.body = io.MultiReader(strings.NewReader(string(r.head)), toEnd{r})
	r.head, r.proto, r.code, r.length = nil, "HTTP/0.9", http.StatusOK, -1
	return nil
}

// readHead reads as far as the blank line and counts the lines.
func (r *reader) readHead() (lines int, err error) {
	for {
		start := len(r.head)
		r.head, err = r.line(r.head, maxHead)
		switch {
		case err == errLong:
			return 0, fetch.TooLarge.Errorf("response head larger than %d bytes", maxHead)
		case err == io.EOF:
			return 0, fetch.Truncated.Errorf("connection ended in the head of the response")
		case err != nil:
			return 0, err
		case lines > 0 && blank(r.head[start:]):
			return lines, nil
		}
		if lines++; lines > maxFields+1 {
			return 0, fetch.TooLarge.Errorf("response head of more than %d fields", maxFields)
		}
	}
}

// blank reports whether a line holds no more than its end.
func blank(line []byte) bool { return string(line) == "\r\n" || string(line) == "\n" }

// status reads a status line: RFC 9112 4.
func (r *reader) status(line string) error {
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	n, err := strconv.ParseUint(code, 10, 16)
	r.code = int(n)
	if err != nil || len(code) != 3 {
		if err := r.deviates("status of no three digits, taken for 200"); err != nil {
			return err
		}
		r.code = http.StatusOK
	}
	const prefix = "HTTP/1."
	if len(version) == len(prefix)+1 && version[:len(prefix)] == prefix && version[len(prefix)] >= '0' && version[len(prefix)] <= '9' {
		r.proto, r.minor = version, version[len(prefix)]-'0'
		return nil
	}
	r.proto, r.minor = "HTTP/1.0", 0
	return r.deviates("version that is neither HTTP/1.0 nor HTTP/1.1")
}

// unfold joins each field that stands on several lines: RFC 9112 5.2.
func (r *reader) unfold(text string) string {
	if !strings.Contains(text, "\n ") && !strings.Contains(text, "\n\t") {
		return text
	}
	r.trace.Notef("header field folded over lines")
	out := make([]byte, 0, len(text))
	for line := range strings.Lines(text) {
		if len(out) > 0 && isBlank(line[0]) {
			out = bytes.TrimRight(out, " \t\r\n")
			if line = strings.TrimLeft(line, " \t"); !blank([]byte(line)) {
				out = append(out, ' ')
			}
		}
		out = append(out, line...)
	}
	return string(out)
}

// fields reads so many lines of fields, none of which is folded: RFC 9112 5.
func (r *reader) fields(text string, lines int) (fetch.Header, error) {
	h := make(fetch.Header, 0, lines)
	for len(text) > 0 {
		var line string
		line, text = cutLine(text)
		if f, ok := plainField(line); ok {
			h = append(h, f)
			continue
		}
		if hasControl(line) {
			if err := r.deviates("control character in the head"); err != nil {
				return nil, err
			}
			line = clean(line)
		}
		if line == "" {
			continue
		}
		if isBlank(line[0]) {
			if err := r.deviates("field that begins with a blank"); err != nil {
				return nil, err
			}
			continue
		}
		f, ok, err := r.field(line)
		if err != nil {
			return nil, err
		}
		if ok {
			h = append(h, f)
		}
	}
	return h, nil
}

// cutLine cuts the first line, without its end, off text.
func cutLine(text string) (line, rest string) {
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		end = len(text)
	} else {
		rest = text[end+1:]
	}
	return strings.TrimSuffix(text[:end], "\r"), rest
}

// plainField reads a line with nothing odd, as nearly all are.
func plainField(line string) (f fetch.Field, ok bool) {
	colon := 0
	for colon < len(line) && inToken[line[colon]] {
		colon++
	}
	if colon == 0 || colon == len(line) || line[colon] != ':' || hasControl(line[colon:]) {
		return f, false
	}
	return fetch.Field{Name: line[:colon], Value: trim(line[colon+1:])}, true
}

// inToken are the bytes of a token: RFC 9110 5.6.2.
var inToken = func() (t [256]bool) {
	for c := range t {
		t[c] = httpguts.IsTokenRune(rune(c))
	}
	return t
}()

// field reads one line, and returns false where it is none that can be borne.
func (r *reader) field(line string) (f fetch.Field, ok bool, err error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return f, false, r.deviates("line without a colon in the head")
	}
	f = fetch.Field{Name: strings.TrimRight(name, " "), Value: trim(value)}
	if len(f.Name) != len(name) && (strings.EqualFold(f.Name, "Content-Length") || strings.EqualFold(f.Name, "Transfer-Encoding")) {
		return f, true, r.deviates("blank before the colon of a field that frames the body")
	}
	if !isName(f.Name) {
		return f, f.Name != "", r.deviates("field name that is no token")
	}
	return f, true, nil
}

// isName reports whether s may be the name of a field: a token, or some.
func isName(s string) bool {
	for i := range len(s) {
		if !inToken[s[i]] && s[i] != ' ' {
			return false
		}
	}
	return s != ""
}

// isBlank reports whether c is white space of a field: RFC 9110 5.6.3.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// trim is s without blanks around it.
func trim(s string) string {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// hasBlank reports whether there is one in s.
func hasBlank(s string) bool {
	return strings.IndexByte(s, ' ') >= 0 || strings.IndexByte(s, '\t') >= 0
}

// clean drops control characters.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, s)
}
