package gopher

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A textReader reads the answer for a text item up to the close.
//
// RFC 1436 ends a text with the line "." and puts a dot before lines that begin
// with a dot. UMN gopherd stuffs only the line ".". gophernicus, pygopherd and
// most current servers send the file unchanged, and "." is an ordinary line. The
// text itself shows which rule applies:
//
//   - If the last line is not ".", the server stuffs no line.
//   - If an earlier line is ".", the server stuffs no line either.
//   - If a line begins with one dot and another byte, the server stuffs at most
//     the line ".", as UMN gopherd does. ".." is "." then, and "..two" stays.
//   - Otherwise RFC 1436 applies.
//
// Text flows until a line may have been stuffed. From there on, textReader holds
// it back until a later line or the end decides. If the held text exceeds
// maxHeld, all of it is passed unchanged, including the last line.
type textReader struct {
	dots   dotReader
	strict bool
	note   func(format string, args ...any)

	out     []byte // to be given out, valid until dots.next
	held    []byte // from the first undecided line; nil: none
	two     int    // offset of the first line ".." in held, or -1
	pending []byte // a line ".", which may be the last
	stuffed extent // decided by the lines so far
	asSent  bool   // too long to be held back
	err     error
}

// An extent is the set of lines that a server stuffs with a leading dot.
type extent uint8

const (
	everyDot extent = iota // lines that begin with a dot: RFC 1436
	loneDots               // the line ".": UMN gopherd
	noDots
)

// maxHeld bounds the memory that a text can take.
const maxHeld = 8 << 20

func newText(r *bufio.Reader, strict bool, note func(string, ...any)) *textReader {
	return &textReader{dots: dotReader{r: r}, strict: strict, note: note, two: -1}
}

func (t *textReader) Read(p []byte) (int, error) {
	for len(t.out) == 0 && t.err == nil {
		t.step()
	}
	if len(t.out) == 0 {
		return 0, t.err
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// step takes one more piece. A pending dot that turns out to be a line like
// others goes before it; one behind which the connection breaks is the end, for
// a server that closes before it has read all of a request breaks it.
func (t *textReader) step() {
	if len(t.pending) > 0 {
		_, err := t.dots.r.Peek(t.dots.taken + 1)
		switch {
		case err == nil:
			t.stuffed, t.two = noDots, -1
			t.release(t.pending)
			t.pending = nil
		case err == io.EOF, fetch.FaultOf(err) == fetch.Connect:
			t.end()
		default:
			t.err = err
		}
		return
	}
	w, m, err := t.dots.next()
	switch {
	case err == io.EOF:
		t.end()
	case err != nil:
		t.err = err
	case t.asSent:
		t.out = w
	case m == lone:
		t.pending = bytes.Clone(w)
	case m == single && t.stuffed == everyDot:
		t.stuffed = loneDots
		t.release(w)
	case m == two && t.stuffed != noDots, m == double && t.stuffed == everyDot:
		t.hold(w, m)
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
		t.note("text is too long to undo its dots: passed as sent")
		t.out, t.held, t.asSent = t.held, nil, true
	}
}

// hold starts to hold back text. w is the first byte of an undecided line.
func (t *textReader) hold(w []byte, m mark) {
	if m == two && t.two < 0 {
		t.two = len(t.held)
	}
	if t.held == nil {
		t.held = []byte{}
	}
	t.emit(w)
}

// release moves the decided part of held to out, and then emits w. Lines ".."
// remain undecided until the end, unless the extent is noDots.
func (t *textReader) release(w []byte) {
	if t.two < 0 {
		t.out, t.held = append(t.held, w...), nil
		return
	}
	t.out, t.held, t.two = t.held[:t.two:t.two], t.held[t.two:], 0
	if before := t.out; len(before) > 0 {
		t.held = append(t.held, w...)
		return
	}
	t.emit(w)
}

func (t *textReader) end() {
	t.err = io.EOF
	if len(t.pending) > 0 {
		t.out = undot(t.held, t.stuffed)
		return
	}
	t.out = t.held
	if t.asSent {
		return
	}
	t.err = unproven(t.strict, t.note)
}

// unproven is how a text ends whose last line is not a dot.
func unproven(strict bool, note func(string, ...any)) error {
	if strict {
		return fetch.Truncated.Errorf("text ended without a line of one dot")
	}
	note("no line of one dot at the end: the server does not say whether that is all")
	return io.EOF
}

// undot removes, in place, the dots that a server of this extent added.
func undot(held []byte, stuffed extent) []byte {
	out := held[:0]
	for line := range bytes.Lines(held) {
		switch text := strings.TrimSuffix(strings.TrimSuffix(string(line[:min(len(line), 4)]), "\n"), "\r"); {
		case text == ".." && stuffed != noDots, stuffed == everyDot && strings.HasPrefix(text, ".."):
			line = line[1:]
		}
		out = append(out, line...)
	}
	return out
}

// A menuReader passes a menu on as it is sent, and sees how it ends.
type menuReader struct {
	r      io.Reader
	strict bool
	note   func(format string, args ...any)
	tail   [4]byte // the last bytes
}

func (m *menuReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	for _, c := range p[max(0, n-len(m.tail)):n] {
		copy(m.tail[:], m.tail[1:])
		m.tail[len(m.tail)-1] = c
	}
	switch ended := m.ended(); {
	case err == io.EOF && !ended:
		err = unproven(m.strict, m.note)
	case ended && fetch.FaultOf(err) == fetch.Connect: // as in a text
		err = io.EOF
	}
	return n, err
}

// ended reports whether the last line is a dot. A menu of nothing else has
// zeros before it.
func (m *menuReader) ended() bool {
	last := bytes.TrimSuffix(bytes.TrimSuffix(m.tail[:], []byte("\n")), []byte("\r"))
	last, ok := bytes.CutSuffix(last, []byte("."))
	return ok && (last[len(last)-1] == '\n' || last[len(last)-1] == 0)
}
