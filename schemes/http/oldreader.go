package http

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// An oldReader reads one response from a connection that brings no other. It
// is the body of it.
type oldReader struct {
	Old
	noBody bool
	trace  *fetch.Trace
	conn   net.Conn
	below  *ending
	stop   func() bool
	r      *bufio.Reader

	head    []byte
	trailer []byte // once the body has ended
	resp    *http.Response
	body    io.Reader
}

func (r *oldReader) Read(p []byte) (int, error) { return r.body.Read(p) }

// Close ends the connection.
func (r *oldReader) Close() error {
	r.stop()
	return r.conn.Close()
}

// deviates notes what is borne, or is the error where nothing is.
func (r *oldReader) deviates(format string, args ...any) error {
	if !r.Tolerant {
		return fetch.Protocol.Errorf(format, args...)
	}
	r.trace.Notef("deviation: "+format, args...)
	return nil
}

// response reads up to the body.
func (r *oldReader) response() error {
	for range maxInterim + 1 {
		if is, err := r.isHead(); !is {
			return r.without(err)
		}
		line, err := r.line()
		if err != nil {
			return err
		}
		r.resp = &http.Response{Header: http.Header{}, ContentLength: -1, Body: r}
		if err = r.status(line); err == nil {
			err = r.fields()
		}
		if code := r.resp.StatusCode; err != nil || code < 100 || code > 199 || code == 101 {
			if err == nil {
				err = r.frame()
			}
			return err
		}
	}
	return fetch.Protocol.Errorf("more than %d interim responses", maxInterim)
}

// isHead reports whether a status line comes next. Blank lines before it are
// a deviation.
func (r *oldReader) isHead() (bool, error) {
	for range 4 {
		start, err := r.r.Peek(1)
		if err != nil {
			return false, err
		}
		if start[0] != '\r' && start[0] != '\n' || !r.Tolerant {
			break
		}
		if line, err := r.line(); line != "" || err != nil {
			return false, err
		}
		r.deviates("blank line before the status line")
	}
	start, _ := r.r.Peek(len("HTTP/"))
	switch text := string(start); {
	case text == "HTTP/":
		return true, nil
	case strings.EqualFold(text, "HTTP/"), strings.HasPrefix(text, "ICY "):
		return r.Tolerant, nil
	}
	return false, nil
}

// without takes what comes for an object without a head.
func (r *oldReader) without(err error) error {
	if !r.Accept09 || r.noBody || err != nil && len(r.head) == 0 {
		if err == nil {
			err = fetch.Protocol.Errorf("reply without a head")
		}
		return err
	}
	r.trace.Notef("deviation: reply without a head, taken for HTTP/0.9")
	r.body = io.MultiReader(strings.NewReader(string(r.head)), toEnd{r})
	r.head = nil
	r.resp = &http.Response{StatusCode: 200, Proto: "HTTP/0.9", Header: http.Header{}, ContentLength: -1, Body: r}
	return nil
}

// line reads a line of the head without its end.
func (r *oldReader) line() (string, error) {
	start := len(r.head)
	for {
		part, err := r.r.ReadSlice('\n')
		r.head = append(r.head, part...)
		switch {
		case len(r.head) > maxHead:
			return "", fetch.TooLarge.Errorf("response head larger than %d bytes", maxHead)
		case err == io.EOF:
			return "", fetch.Truncated.Errorf("connection ended in the head of the response")
		case err != nil && err != bufio.ErrBufferFull:
			return "", err
		case err == nil:
			line := strings.TrimSuffix(string(r.head[start:]), "\n")
			return strings.TrimSuffix(line, "\r"), nil
		}
	}
}

// status reads a status line: RFC 9112 4.
func (r *oldReader) status(line string) error {
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	r.resp.Proto, r.resp.ProtoMajor, r.resp.ProtoMinor = version, 1, 1
	if n, err := strconv.Atoi(code); err == nil && len(code) == 3 && n >= 0 {
		r.resp.StatusCode = n
	} else if err := r.deviates("status of no three digits, taken for 200"); err != nil {
		return err
	} else {
		r.resp.StatusCode = 200
	}
	switch version {
	case "HTTP/1.1":
	case "HTTP/1.0":
		r.resp.ProtoMinor = 0
	default:
		r.resp.Proto, r.resp.ProtoMinor = "HTTP/1.0", 0
		return r.deviates("version that is neither HTTP/1.0 nor HTTP/1.1")
	}
	return nil
}

// fields reads the header: RFC 9112 5.
func (r *oldReader) fields() error {
	last, count := "", 0
	for {
		line, err := r.line()
		if line == "" || err != nil {
			return err
		}
		if count++; count > maxFields {
			return fetch.TooLarge.Errorf("response head of more than %d fields", maxFields)
		}
		if line[0] == ' ' || line[0] == '\t' {
			if values := r.resp.Header[last]; len(values) > 0 {
				values[len(values)-1] += " " + strings.Trim(line, " \t")
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			if err := r.deviates("line without a colon in the head"); err != nil {
				return err
			}
			continue
		}
		if hasControl(line) {
			if err := r.deviates("control character in the head"); err != nil {
				return err
			}
		}
		last = textproto.CanonicalMIMEHeaderKey(clean(name))
		r.resp.Header[last] = append(r.resp.Header[last], clean(value))
	}
}

// clean drops control characters and the blanks around s.
func clean(s string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, s), " \t")
}

// frame finds the end of the body: RFC 9112 6.3.
func (r *oldReader) frame() error {
	r.body = toEnd{r}
	code := r.resp.StatusCode
	length, err := r.length()
	switch codings := r.codings(); {
	case err != nil:
		return err
	case r.noBody || code == 204 || code == 304:
		r.body, r.resp.ContentLength = strings.NewReader(""), length
	case r.IgnoreLength:
	case len(codings) > 0:
		return r.chunked(codings)
	case length >= 0:
		r.resp.ContentLength = length
		r.body = &toLength{r, length}
	}
	return nil
}

// codings are the transfer codings of HTTP/1.1; HTTP/1.0 has none.
func (r *oldReader) codings() []string {
	fields := r.resp.Header["Transfer-Encoding"]
	if r.resp.ProtoMinor == 0 || len(fields) == 0 {
		return nil
	}
	all := strings.Split(strings.ToLower(strings.Join(fields, ",")), ",")
	for i := range all {
		all[i] = strings.Trim(all[i], " \t")
	}
	list := plainCodings(all)
	if len(list) != len(all) {
		r.trace.Notef("deviation: transfer coding that is not chunked alone")
	}
	return list
}

func (r *oldReader) length() (int64, error) {
	values := r.resp.Header["Content-Length"]
	if len(values) == 0 || r.IgnoreLength {
		return -1, nil
	}
	n, ok := digits(values[0])
	switch {
	case ok && !differ(values):
		return n, nil
	case endless(values[0]) && !differ(values):
		r.trace.Notef("deviation: %s", oddLength)
		return -1, nil
	}
	delete(r.resp.Header, "Content-Length")
	return -1, r.deviates("Content-Length that is no number, or another each time: the body goes to the end")
}

func (r *oldReader) chunked(list []string) error {
	if list[len(list)-1] != "chunked" {
		return r.deviates("transfer coding that does not end in chunked: the body goes to the end")
	}
	if r.Raw {
		r.body = &toFrame{r: r, frame: frame{state: inSize}}
		return nil
	}
	r.body = r.toLastChunk()
	if list = list[:len(list)-1]; len(list) == 0 {
		return nil
	}
	if slices.ContainsFunc(list, func(name string) bool { return name != "gzip" && name != "deflate" }) || len(list) > maxCodings {
		return fetch.Unsupported.Errorf("unknown transfer coding")
	}
	r.body = decode(io.NopCloser(r.body), list, r.trace)
	return r.deviates("transfer coding besides chunked")
}

// A toEnd is a body that the end of the connection ends.
type toEnd struct{ *oldReader }

func (b toEnd) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == io.EOF && b.below != nil && b.below.seen() {
		err = fmt.Errorf("TLS connection ended without close_notify: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// A toLength is a body of known length.
type toLength struct {
	*oldReader
	left int64
}

func (b *toLength) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	if b.left -= int64(n); b.left > 0 && err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// A toLastChunk is a chunked body; it reads the trailer too.
type toLastChunk struct {
	lines  *mended
	chunks io.Reader
}

func (r *oldReader) toLastChunk() *toLastChunk {
	lines := &mended{oldReader: r, frame: frame{state: inSize}}
	return &toLastChunk{lines, httputil.NewChunkedReader(lines)}
}

func (b *toLastChunk) Read(p []byte) (int, error) {
	n, err := b.chunks.Read(p)
	if err == io.EOF {
		if _, err := io.Copy(io.Discard, b.lines); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return n, err
		}
	}
	return n, err
}

// A mended is the rest of a response, of which every line ends in CR LF.
type mended struct {
	*oldReader
	frame   frame
	pending []byte
}

func (m *mended) Read(p []byte) (int, error) {
	if len(m.pending) > 0 || m.frame.state == ended {
		return m.give(p)
	}
	n, err := m.r.Read(p)
	odd := m.frame.odd
	n = m.frame.scan(p[:n])
	if m.trailer = m.frame.trailer; len(m.trailer) > maxHead {
		return 0, fetch.TooLarge.Errorf("trailer larger than %d bytes", maxHead)
	}
	if m.frame.odd != odd {
		m.trace.Notef("deviation: %s", m.frame.odd)
	}
	if m.pending = bytes.Clone(m.frame.given(p[:n])); n > 0 {
		return m.give(p)
	}
	return 0, err
}

func (m *mended) give(p []byte) (int, error) {
	if len(m.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.pending)
	m.pending = m.pending[n:]
	return n, nil
}

// A toFrame is a chunked body as it came.
type toFrame struct {
	r     *oldReader
	frame frame
}

func (b *toFrame) Read(p []byte) (int, error) {
	if b.frame.state == ended {
		return 0, io.EOF
	}
	n, err := b.r.r.Read(p)
	n = b.frame.scan(p[:n])
	if err == io.EOF && b.frame.state != ended {
		err = io.ErrUnexpectedEOF
	}
	if b.frame.state == unbounded {
		err = fetch.Protocol.Errorf("malformed chunk")
	}
	return n, err
}
