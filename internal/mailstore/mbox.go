package mailstore

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"net/mail"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// fromLine begins the line before each message of an mbox.
const fromLine = "From "

// An Mbox writes messages one behind the other (RFC 4155 appendix A): a line
// with sender and date, the message with LF for CR LF, an empty line. Lines of
// the message that begin with "From ", behind any number of ">", get one ">"
// more, which ReadMbox takes away again: the mboxrd form.
type Mbox struct {
	w *bufio.Writer
	r *bufio.Reader
}

// NewMbox returns an Mbox that writes to the end of w.
func NewMbox(w io.Writer) *Mbox {
	return &Mbox{bufio.NewWriterSize(w, bufferSize), bufio.NewReaderSize(nil, bufferSize)}
}

// Append writes one message, all of it to w when it returns. The line before it
// has the date of the message or, where the head has none, received; the zero
// time is unknown. An error of message is returned as it is; the mbox then ends
// within the message, and whoever knows where that began cuts it off.
func (m *Mbox) Append(message io.Reader, received time.Time) error {
	m.r.Reset(&stickyReader{r: message})
	h := peekHeader(m.r)
	m.w.WriteString(fromLine + sender(h) + " " + messageDate(h, received).Format(time.ANSIC) + "\n")
	for {
		err := m.copyLine()
		if err == io.EOF {
			m.w.WriteByte('\n')
			return m.w.Flush()
		}
		if err != nil {
			m.w.Flush()
			return err
		}
	}
}

// line copies one line. A ">" more stands as well behind the others as before
// them.
func (m *Mbox) copyLine() error {
	empty := true
	for hasPrefix(m.r, ">") {
		m.r.Discard(1)
		m.w.WriteByte('>')
		empty = false
	}
	if hasPrefix(m.r, fromLine) {
		m.w.WriteByte('>')
	}
	for {
		text, ends, err := readPiece(m.r)
		if bare, ok := bytes.CutSuffix(text, []byte("\r\n")); ok {
			m.w.Write(bare)
			text = text[len(bare)+1:]
		}
		m.w.Write(text)
		empty = empty && len(text) == 0
		switch {
		case err == io.EOF && !empty:
			return m.w.WriteByte('\n') // and io.EOF comes again
		case err != nil || ends:
			return err
		}
	}
}

// sender is the address that an mbox tells beside the date: without spaces, or
// readers would not find the date.
func sender(h fetch.Header) string {
	for _, name := range []string{"Return-Path", "From"} {
		a, err := mail.ParseAddress(h.Get(name))
		if err == nil && len(a.Address) < 256 && strings.IndexFunc(a.Address, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0 {
			return a.Address
		}
	}
	return "MAILER-DAEMON"
}

// A Message is a message to read, and when it was received.
type Message struct {
	io.Reader
	Received time.Time // zero: unknown
}

// ReadMbox reads the messages of an mbox; their lines end as they do there.
// Each reader is valid until the next one; what was not read of it is skipped.
// An error, one of r or that r is no mbox, ends the sequence.
func ReadMbox(r io.Reader) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		in := bufio.NewReaderSize(&stickyReader{r: r}, bufferSize)
		for hasPrefix(in, "\n") {
			in.Discard(1)
		}
		if _, err := in.Peek(1); err == io.EOF {
			return
		} else if err == nil && !hasPrefix(in, fromLine) {
			yield(Message{}, fetch.Unsupported.Errorf("not an mbox: it does not begin with %q", fromLine))
			return
		}
		for {
			m := &mboxMessage{r: in}
			if received := m.readFromLine(); m.err == nil && !yield(Message{m, received}, nil) {
				return
			}
			_, err := io.Copy(io.Discard, m)
			if err != nil {
				yield(Message{}, err)
			}
			if err != nil || m.err == io.EOF && !hasPrefix(in, fromLine) {
				return
			}
		}
	}
}

// A message reads one message of an mbox.
type mboxMessage struct {
	r         *bufio.Reader
	text      []byte // not yet given out; valid until the next read of r
	pos       linePos
	heldBlank string // an empty line that may be the last, or ""
	err       error
}

// A place is where in a line a message is read.
type linePos uint8

const (
	lineStart   linePos = iota
	afterQuotes         // behind a ">" that may be ours
	lineBody
)

func (m *mboxMessage) Read(p []byte) (int, error) {
	for len(m.text) == 0 && m.err == nil {
		m.readNext()
	}
	if len(m.text) == 0 {
		return 0, m.err
	}
	n := copy(p, m.text)
	m.text = m.text[n:]
	return n, nil
}

// postmark reads the line before a message and returns its date. The epoch,
// which Append writes where there is no date, and other forms are unknown.
func (m *mboxMessage) readFromLine() time.Time {
	text, ends, err := readPiece(m.r)
	_, date, _ := strings.Cut(strings.TrimPrefix(string(text), fromLine), " ")
	for m.err = err; !ends && m.err == nil; {
		_, ends, m.err = readPiece(m.r)
	}
	t, err := time.Parse(time.ANSIC, strings.TrimSpace(date))
	if err != nil || t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

// next reads what comes next.
func (m *mboxMessage) readNext() {
	switch {
	case m.pos == lineStart && hasPrefix(m.r, fromLine):
		m.err = io.EOF
		return
	case m.pos == lineStart && m.heldBlank != "":
		if _, err := m.r.Peek(1); err == nil {
			m.text = []byte(m.heldBlank)
		}
		m.heldBlank = ""
		return
	case m.pos != lineBody && hasPrefix(m.r, ">"):
		m.r.Discard(1)
		if m.pos == afterQuotes {
			m.text = []byte(">")
		}
		m.pos = afterQuotes
		return
	case m.pos == afterQuotes:
		if !hasPrefix(m.r, fromLine) {
			m.text = []byte(">")
		}
		m.pos = lineBody
		return
	}
	text, ends, err := readPiece(m.r)
	if m.text, m.err = text, err; err != nil {
		return
	}
	if m.pos == lineStart && ends && len(bytes.TrimRight(text, "\r\n")) == 0 {
		m.text, m.heldBlank = nil, string(text)
		return
	}
	if m.pos = lineBody; ends {
		m.pos = lineStart
	}
}
