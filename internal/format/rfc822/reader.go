package rfc822

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxDepth = 32     // maximum depth of nested multiparts
	maxParts = 10_000 // maximum number of parts in a message, including multiparts
)

// A reader reads the parts of a MIME message in order (RFC 2046 5.1). It reads
// the message line by line and does not keep parts in memory.
//
// If a multipart has no closing boundary, the next boundary of an enclosing
// multipart ends it. If the message ends within a multipart, the reader returns
// a fetch.Truncated error.
type reader struct {
	in        *lines
	enclosing []multipart // multiparts that contain the current part, outermost first
	found     *boundary   // boundary that ended the current part, or nil if the part has not ended
	lineEnd   string      // line ending that belongs to the part unless a boundary follows
	text      []byte
	entities  int
	undivided string // Content-ID of a multipart that next returns as one part
	err       error
}

type multipart struct {
	boundary    string
	parts       int    // number of parts read
	media       string // default media type of its parts
	alternative int    // number of the multipart/alternative, or 0 for another multipart type
}

type boundary struct {
	depth int // index of the multipart in reader.enclosing
	last  bool
}

func newReader(message io.Reader) *reader {
	return &reader{in: newLines(message)}
}

// next skips the unread bytes of the previous part and returns the next part.
// The previous part must not be used afterwards. At the end of the message,
// next returns io.EOF.
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

// newPart returns the part with the header h. If the part is a multipart,
// newPart also returns its boundary in inner.
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

// nextEntity skips text up to the next boundary that starts a part. It returns
// false if the message has no more parts.
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

// readHeader reads the header of a part up to and including the empty line. A
// header without an empty line extends to the end of the part.
func (r *reader) readHeader() (head []byte, err error) {
	for {
		text, err := r.nextLine()
		switch {
		case err == io.EOF:
			return head, nil
		case err != nil:
			return nil, err
		case r.in.atStart && len(text) == 0 && r.in.lineEnd != "":
			return head, nil
		case len(head)+len(text) > MaxHeader:
			return nil, fetch.TooLarge.Errorf("header is longer than %d bytes", MaxHeader)
		}
		head = append(append(head, text...), r.in.lineEnd...)
	}
}

// nextPiece returns one or more lines of the current part. At the end of the
// part, nextPiece returns io.EOF.
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
		if r.lineEnd = r.in.lineEnd; len(r.text) >= bufferSize || r.in.r.Buffered() == 0 {
			return r.text, nil
		}
	}
}

// nextLine returns the next line without its line ending. It returns a long
// line in pieces. If the line is a MIME boundary, nextLine sets r.found and
// returns io.EOF.
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
	if rest, ok := bytes.CutPrefix(text, []byte("--")); ok && r.in.atStart {
		if r.found = r.matchBoundary(string(bytes.TrimRight(rest, " \t"))); r.found != nil {
			return nil, io.EOF
		}
	}
	return text, nil
}

// matchBoundary returns the boundary that text contains, or nil if text is not
// a boundary of an enclosing multipart.
func (r *reader) matchBoundary(text string) *boundary {
	for depth := len(r.enclosing) - 1; depth >= 0; depth-- {
		if rest, ok := strings.CutPrefix(text, r.enclosing[depth].boundary); ok && (rest == "" || rest == "--") {
			return &boundary{depth, rest != ""}
		}
	}
	return nil
}
