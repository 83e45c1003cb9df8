package rfc822

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxDepth = 32     // multiparts within multiparts
	maxParts = 10_000 // of one message, multiparts included
)

// A reader reads the parts of a message one after the other (RFC 2046 5.1). It
// reads the message once, line by line, and holds no part in memory.
//
// A multipart whose last boundary is missing ends at a boundary of the
// multipart around it. A message that ends within a multipart is an error of
// Fault Truncated.
type reader struct {
	in        *lines
	enclosing []multipart // around the present part, the outermost first
	found     *boundary   // nil: the reader is within a part
	lineEnd   string      // belongs to the part unless a boundary follows
	text      []byte
	entities  int
	undivided string // Content-ID of a multipart that next returns undivided
	err       error
}

type multipart struct {
	boundary    string
	parts       int    // so far
	media       string // of a part without Content-Type
	alternative int    // number of this multipart/alternative; 0: another type
}

type boundary struct {
	depth int // index of its multipart in reader.open
	last  bool
}

func newReader(message io.Reader) *reader {
	return &reader{in: newLines(message)}
}

// next returns the next part, and skips the rest of the part before, which is
// not valid any more. The error is io.EOF after the last part.
func (r *reader) next() (*Part, error) {
	for r.err == nil {
		if r.entities > 0 && !r.nextEntity() {
			break
		}
		if r.entities++; r.entities > maxParts {
			r.err = fetch.TooLarge.Errorf("message has more than %d parts", maxParts)
			break
		}
		head, err := r.readHeader()
		if err != nil {
			r.err = err
			break
		}
		p, inner := r.newPart(ParseHeader(head))
		if inner.boundary == "" || r.undivided != "" && p.id() == r.undivided {
			return p, nil
		}
		if r.enclosing = append(r.enclosing, inner); len(r.enclosing) > maxDepth {
			r.err = fetch.TooLarge.Errorf("parts are nested more than %d deep", maxDepth)
		}
	}
	return nil, r.err
}

// part returns the part with the fields h and, if it is a multipart, how it is
// divided.
func (r *reader) newPart(h fetch.Header) (p *Part, inner multipart) {
	p = &Part{Number: r.number(), Header: h, Media: h.Get("Content-Type"), text: &pieceReader{next: r.nextPiece}}
	kind, params := parameters(p.Media)
	if !strings.Contains(kind, "/") {
		p.Media = "text/plain" // RFC 2045 5.2
		if n := len(r.enclosing); n > 0 {
			p.Media = r.enclosing[n-1].media
		}
	}
	for _, m := range r.enclosing {
		if p.alternative = m.alternative; p.alternative > 0 {
			break
		}
	}
	if !strings.HasPrefix(kind, "multipart/") {
		return p, inner
	}
	inner = multipart{boundary: strings.TrimRight(params["boundary"], " \t"), media: "text/plain"}
	switch kind {
	case "multipart/digest":
		inner.media = "message/rfc822" // RFC 2046 5.1.5
	case "multipart/alternative":
		inner.alternative = r.entities
	}
	return p, inner
}

func (r *reader) number() string {
	if len(r.enclosing) == 0 {
		return "1"
	}
	var number []byte
	for _, m := range r.enclosing {
		number = append(strconv.AppendInt(number, int64(m.parts), 10), '.')
	}
	return string(number[:len(number)-1])
}

// nextEntity skips to the next boundary that begins a part.
func (r *reader) nextEntity() bool {
	for {
		for r.err == nil && r.found == nil {
			_, r.err = r.nextLine()
		}
		if r.found == nil {
			return false
		}
		at := *r.found
		r.found, r.lineEnd = nil, ""
		if !at.last {
			r.enclosing = r.enclosing[:at.depth+1]
			r.enclosing[at.depth].parts++
			r.err = nil
			return true
		}
		r.enclosing = r.enclosing[:at.depth]
		r.err = nil
	}
}

// head reads a head and the empty line after it. A head also ends with its
// part.
func (r *reader) readHeader() (head []byte, err error) {
	for {
		text, err := r.nextLine()
		switch {
		case err == io.EOF:
			return head, nil
		case err != nil:
			return nil, err
		case r.in.begin && len(text) == 0 && r.in.end != "":
			return head, nil
		case len(head)+len(text) > MaxHeader:
			return nil, fetch.TooLarge.Errorf("header is longer than %d bytes", MaxHeader)
		}
		head = append(append(head, text...), r.in.end...)
	}
}

// piece returns the next lines of the present part. The error is io.EOF at the
// next boundary, and after a message without boundaries.
func (r *reader) nextPiece() ([]byte, error) {
	r.text = r.text[:0]
	for {
		text, err := r.nextLine()
		if r.found != nil {
			return r.text, io.EOF
		}
		r.text = append(append(r.text, r.lineEnd...), text...)
		if r.lineEnd = ""; err != nil {
			return r.text, err
		}
		if r.lineEnd = r.in.end; len(r.text) >= bufferSize || r.in.r.Buffered() == 0 {
			return r.text, nil
		}
	}
}

// line returns the next line, without its end, or a piece of a long line. It
// sets found and returns io.EOF where the line is a boundary.
func (r *reader) nextLine() ([]byte, error) {
	if r.found != nil {
		return nil, io.EOF
	}
	text, _, err := r.in.next()
	switch {
	case err == io.EOF && len(r.enclosing) > 0:
		return nil, fetch.Truncated.Errorf("message ends within a multipart: %w", io.ErrUnexpectedEOF)
	case err != nil:
		return nil, err
	}
	if rest, ok := bytes.CutPrefix(text, []byte("--")); ok && r.in.begin {
		if r.found = r.matchBoundary(string(bytes.TrimRight(rest, " \t"))); r.found != nil {
			return nil, io.EOF
		}
	}
	return text, nil
}

// match returns the boundary of a line, or nil.
func (r *reader) matchBoundary(text string) *boundary {
	for depth := len(r.enclosing) - 1; depth >= 0; depth-- {
		if rest, ok := strings.CutPrefix(text, r.enclosing[depth].boundary); ok && (rest == "" || rest == "--") {
			return &boundary{depth, rest != ""}
		}
	}
	return nil
}
