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

// fromLine is the start of the separator line before each message in an mbox.
const fromLine = "From "

// An Mbox writes messages to an mbox file in the mboxrd format (RFC 4155
// appendix A). A separator line with the sender and the date precedes each
// message, and an empty line follows the message.
//
// Line endings are converted from CR LF to LF. A message line that starts with
// "From " is written as ">From ". If such a line already starts with one or
// more ">", one ">" is added. ReadMbox removes it.
type Mbox struct {
	w *bufio.Writer
	r *bufio.Reader
}

// NewMbox returns an Mbox that appends messages to w.
func NewMbox(w io.Writer) *Mbox {
	return &Mbox{bufio.NewWriterSize(w, bufferSize), bufio.NewReaderSize(nil, bufferSize)}
}

// Append writes one message and flushes it to w. The separator line before the
// message contains the date in the message header. If the header has no date,
// it contains the time received, which may be zero.
//
// If the message cannot be read completely, Append returns the error. The
// caller should then remove the incomplete message from the mbox.
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

// copyLine copies one line of a message and adds a ">" if the line starts with
// any number of ">" and "From ".
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
			return m.w.WriteByte('\n') // the next read returns io.EOF again
		case err != nil || ends:
			return err
		}
	}
}

// sender returns the mail address for the separator line before a message. It
// skips addresses with spaces, because a space separates the address from the
// date.
func sender(h fetch.Header) string {
	for _, name := range []string{"Return-Path", "From"} {
		a, err := mail.ParseAddress(h.Get(name))
		unsafe := func(r rune) bool { return r <= ' ' || r >= 0x7f }
		if err == nil && len(a.Address) < 256 && !strings.ContainsFunc(a.Address, unsafe) {
			return a.Address
		}
	}
	return "MAILER-DAEMON"
}

// A Message is a message in an mbox.
type Message struct {
	io.Reader
	Received time.Time // time of delivery, or zero if unknown
}

// ReadMbox iterates over the messages in an mbox file. Line endings are not
// converted. Each message can be read until the next iteration. If r fails or
// is not an mbox, the iterator yields the error and stops.
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

// An mboxMessage is an io.Reader for one message in an mbox.
type mboxMessage struct {
	r         *bufio.Reader
	text      []byte // text not yet returned by Read, valid until the next read of r
	pos       linePos
	heldBlank string // last empty line, which is omitted if the message ends after it, or ""
	err       error
}

// A linePos is the read position within a line of a message.
type linePos uint8

const (
	lineStart   linePos = iota
	afterQuotes         // after a leading ">" that Append may have added
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

// readFromLine reads the separator line before a message and returns its date.
// It returns the zero time if the date has another format. It also returns the
// zero time for the Unix epoch, which Append writes if the date is unknown.
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

// readNext reads the next piece of the message into m.text. It removes the ">"
// and the empty line that Append adds.
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
