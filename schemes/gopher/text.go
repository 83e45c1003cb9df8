package gopher

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A textReader reads the response for a text item until the connection is
// closed.
//
// RFC 1436 ends a text with the line "." and adds a dot to each line that
// begins with a dot. UMN gopherd adds a dot only to the line ".". gophernicus,
// pygopherd and most current servers send the file unchanged, so that the line
// "." is ordinary text. The textReader determines from the lines of the text
// which rule applies:
//
//   - If the last line is not ".", the server adds no dots.
//   - If an earlier line is ".", the server adds no dots.
//   - If a line begins with one dot and another byte, the server adds dots at
//     most to the line ".", as UMN gopherd does. The line ".." is decoded to
//     ".", and the line "..two" is unchanged.
//   - Otherwise RFC 1436 applies.
//
// Text is returned immediately until a line begins with two dots. From this
// line on, the textReader buffers the text until a later line or the end of the
// text determines the rule. If the buffer exceeds maxHeld, the remaining text
// is returned unchanged, including the last line.
type textReader struct {
	dots   dotReader
	strict bool
	note   func(format string, args ...any)

	out         []byte   // bytes that Read returns next; valid until the call of dots.next
	held        []byte   // buffered text, which starts with the first undecided line, or nil
	dotDotAt    int      // offset of the first line ".." in held, or -1
	pending     []byte   // a line "." that may be the last line
	stuffed     stuffing // rule that agrees with the lines read so far
	passThrough bool     // the text is too long to be buffered
	err         error
}

// A stuffing is the rule by which a server adds a dot to the start of some
// lines.
type stuffing uint8

const (
	stuffAll  stuffing = iota // adds a dot to each line that begins with a dot (RFC 1436)
	stuffLone                 // adds a dot only to the line "." (UMN gopherd)
	stuffNone
)

// maxHeld is the maximum number of bytes that a textReader buffers.
const maxHeld = 8 << 20

func newText(r *bufio.Reader, strict bool, note func(string, ...any)) *textReader {
	return &textReader{dots: dotReader{r: r}, strict: strict, note: note, dotDotAt: -1}
}

func (t *textReader) Read(p []byte) (int, error) {
	return sessions.ReadPending(p, &t.out, &t.err, t.processPiece)
}

// processPiece reads the next piece of the text and determines its meaning. If
// more text follows a "." line, the "." line is ordinary text. After a "." line,
// a connection error is treated as the end of the text. A server that closes the
// connection with unread request bytes resets the connection.
func (t *textReader) processPiece() {
	if len(t.pending) > 0 {
		_, err := t.dots.r.Peek(t.dots.pieceLen + 1)
		switch {
		case err == nil:
			t.stuffed, t.dotDotAt = stuffNone, -1
			t.release(t.pending)
			t.pending = nil
		case err == io.EOF, fetch.FaultOf(err) == fetch.Connect:
			t.finish()
		default:
			t.err = err
		}
		return
	}
	w, m, err := t.dots.next()
	switch {
	case err == io.EOF:
		t.finish()
	case err != nil:
		t.err = err
	case t.passThrough:
		t.out = w
	case m == dotLine:
		t.pending = bytes.Clone(w)
	case m == dotPrefix && t.stuffed == stuffAll:
		t.stuffed = stuffLone
		t.release(w)
	case m == dotDotLine && t.stuffed != stuffNone, m == dotDotPrefix && t.stuffed == stuffAll:
		t.holdBack(w, m)
	default:
		t.emit(w)
	}
}

func (t *textReader) emit(w []byte) {
	if t.held == nil {
		t.out = w
		return
	}
	if t.held = append(t.held, w...); len(t.held) > maxHeld {
		t.note("text with dots at line starts exceeds the buffer: returned unchanged")
		t.out, t.held, t.passThrough = t.held, nil, true
	}
}

// holdBack buffers the start of a line, because later lines determine whether a
// dot must be removed from this line.
func (t *textReader) holdBack(w []byte, m pieceKind) {
	if m == dotDotLine && t.dotDotAt < 0 {
		t.dotDotAt = len(t.held)
	}
	if t.held == nil {
		t.held = []byte{}
	}
	t.emit(w)
}

// release appends w to the buffered text, and moves the text before the first
// undecided line ".." to t.out. A line ".." remains undecided until the end of
// the text, unless the stuffing is stuffNone.
func (t *textReader) release(w []byte) {
	if t.dotDotAt < 0 {
		t.out, t.held = append(t.held, w...), nil
		return
	}
	t.out, t.held, t.dotDotAt = t.held[:t.dotDotAt:t.dotDotAt], t.held[t.dotDotAt:], 0
	if before := t.out; len(before) > 0 {
		t.held = append(t.held, w...)
		return
	}
	t.emit(w)
}

func (t *textReader) finish() {
	t.err = io.EOF
	if len(t.pending) > 0 {
		t.out = removeStuffing(t.held, t.stuffed)
		return
	}
	t.out = t.held
	if t.passThrough {
		return
	}
	t.err = missingDot(t.strict, t.note)
}

// missingDot returns the error for a text without a final "." line. If strict
// is false, it returns io.EOF and reports the missing line as a note.
func missingDot(strict bool, note func(string, ...any)) error {
	if strict {
		return fetch.Truncated.Errorf("text ended without a final \".\" line")
	}
	note("no final \".\" line: the text may be incomplete")
	return io.EOF
}

// removeStuffing removes, in place, the dots that a server has added according
// to the rule stuffed.
func removeStuffing(held []byte, stuffed stuffing) []byte {
	out := held[:0]
	for line := range bytes.Lines(held) {
		switch text := strings.TrimSuffix(strings.TrimSuffix(string(line[:min(len(line), 4)]), "\n"), "\r"); {
		case text == ".." && stuffed != stuffNone, stuffed == stuffAll && strings.HasPrefix(text, ".."):
			line = line[1:]
		}
		out = append(out, line...)
	}
	return out
}

// A menuReader reads a menu without changes and checks that its last line is
// ".".
type menuReader struct {
	r      io.Reader
	strict bool
	note   func(format string, args ...any)
	tail   [4]byte // last bytes read
}

func (m *menuReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	for _, c := range p[max(0, n-len(m.tail)):n] {
		copy(m.tail[:], m.tail[1:])
		m.tail[len(m.tail)-1] = c
	}
	switch ended := m.endsWithDot(); {
	case err == io.EOF && !ended:
		err = missingDot(m.strict, m.note)
	case ended && fetch.FaultOf(err) == fetch.Connect: // connection reset, see textReader.processPiece
		err = io.EOF
	}
	return n, err
}

// endsWithDot reports whether the last line of the menu is ".". If the menu has
// no other lines, the byte before the dot in m.tail is zero.
func (m *menuReader) endsWithDot() bool {
	last := bytes.TrimSuffix(bytes.TrimSuffix(m.tail[:], []byte("\n")), []byte("\r"))
	last, ok := bytes.CutSuffix(last, []byte("."))
	return ok && (last[len(last)-1] == '\n' || last[len(last)-1] == 0)
}
