package proxy

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of an HTTP reply. The body of a 407 that is longer than maxDrain
// costs more to read than a new connection.
const (
	maxHead    = 256 << 10
	maxFields  = 500
	maxInterim = 5
	maxDrain   = 64 << 10
)

// A head is a status line with its fields, of which names are in lower case.
type head struct {
	code   int
	minor  byte // of the version
	fields []Field
}

// readHead reads the final head of a reply, over at most maxInterim others. It
// reads byte for byte, since what follows belongs to somebody else.
func readHead(r io.Reader) (*head, error) {
	lines := &lineReader{r: r, left: maxHead}
	for range maxInterim + 1 {
		h, err := lines.head()
		if err != nil || h.code/100 != 1 {
			return h, err
		}
		if h.code == 101 {
			return nil, fmt.Errorf("%w: 101 was not asked for", ErrMalformed)
		}
	}
	return nil, fmt.Errorf("%w: interim replies", ErrTooLong)
}

// A lineReader reads lines that end in LF or CR LF.
type lineReader struct {
	r     io.Reader
	left  int // bytes that may still come
	count int // fields that came
	buf   []byte
}

func (l *lineReader) line() (string, error) {
	l.buf = l.buf[:0]
	var b [1]byte
	for l.left > 0 {
		l.left--
		if _, err := io.ReadFull(l.r, b[:]); err != nil {
			return "", ended(err)
		}
		if b[0] == '\n' {
			return strings.TrimSuffix(string(l.buf), "\r"), nil
		}
		l.buf = append(l.buf, b[0])
	}
	return "", fmt.Errorf("%w: header", ErrTooLong)
}

func (l *lineReader) head() (*head, error) {
	status, err := l.line()
	if err != nil {
		return nil, err
	}
	h, err := parseStatus(status)
	if err != nil {
		return nil, err
	}
	for {
		line, err := l.line()
		if err != nil || line == "" {
			return h, err
		}
		if l.count++; l.count > maxFields {
			return nil, fmt.Errorf("%w: fields", ErrTooLong)
		}
		if err := h.field(line); err != nil {
			return nil, err
		}
	}
}

// parseStatus reads a line such as "HTTP/1.0 200 Connection established". The
// reason may be missing, with the space before it.
func parseStatus(line string) (*head, error) {
	rest, ok := strings.CutPrefix(line, "HTTP/1.")
	if !ok || len(rest) < len("1 200") || rest[0] < '0' || rest[0] > '9' || rest[1] != ' ' ||
		len(rest) > len("1 200") && rest[5] != ' ' {
		return nil, fmt.Errorf("%w: status line", ErrMalformed)
	}
	code, err := strconv.ParseUint(rest[2:5], 10, 16)
	if err != nil || code < 100 {
		return nil, fmt.Errorf("%w: status code", ErrMalformed)
	}
	return &head{code: int(code), minor: rest[0] - '0'}, nil
}

// field adds a line, which may continue the one before (RFC 9112 5.2).
func (h *head) field(line string) error {
	if strings.TrimLeft(line, " \t") != line && len(h.fields) > 0 {
		h.fields[len(h.fields)-1].Value += " " + strings.Trim(line, " \t")
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !ok || !isToken(name) || hasControl(value) {
		return fmt.Errorf("%w: header field", ErrMalformed)
	}
	h.fields = append(h.fields, Field{strings.ToLower(name), value})
	return nil
}

func (h *head) values(name string) (list []string) {
	for _, f := range h.fields {
		if f.Name == name {
			list = append(list, f.Value)
		}
	}
	return list
}

// says reports whether a field that is a list of words has that word.
func (h *head) says(name, word string) bool {
	for _, value := range h.values(name) {
		for item := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(item, " \t"), word) {
				return true
			}
		}
	}
	return false
}

// drain reads the body and reports whether the connection can carry another
// request.
func (h *head) drain(r io.Reader) bool {
	length := h.values("content-length")
	if len(length) != 1 || len(h.values("transfer-encoding")) > 0 || !h.persistent() {
		return false
	}
	n, err := strconv.ParseUint(length[0], 10, 32)
	if err != nil || n > maxDrain {
		return false
	}
	_, err = io.CopyN(io.Discard, r, int64(n))
	return err == nil
}

// persistent is RFC 9112 9.3, with the field that old proxies have for it.
func (h *head) persistent() bool {
	if h.says("connection", "close") || h.says("proxy-connection", "close") {
		return false
	}
	return h.minor > 0 || h.says("connection", "keep-alive") || h.says("proxy-connection", "keep-alive")
}
