package dict

import (
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// maxLine is the maximum length of a line of text in bytes. RFC 2229 has a
// limit of 1024 characters.
const maxLine = 64 << 10

// A text reads a text block and the final status line.
type text struct {
	block *line.Block
	lines *line.Reader
	err   error
}

func (t *text) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.block.Read(p)
	if err == io.EOF {
		err = readEnd(t.lines)
	}
	t.err = sessions.BlockFault(err)
	return n, t.err
}

// readEnd reads the status line that confirms the end of a response. It returns
// io.EOF for the expected line.
func readEnd(lines *line.Reader) error {
	r, err := lines.ReadStatus()
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return endOf(r)
}

func endOf(r line.Reply) error {
	if r.Code != 250 {
		return statusError("text", r)
	}
	return io.EOF
}

// definitions reads the definitions of a word. Each definition starts with a
// line that names its database, in the form of the program dict. If nth is
// positive, the reader returns only the text of the definition with this
// number.
type definitions struct {
	lines *line.Reader
	nth   int

	count   int
	heading string
	block   *line.Block
	err     error
}

func (d *definitions) Read(p []byte) (n int, err error) {
	for n == 0 && d.err == nil && len(p) > 0 {
		n, d.err = d.read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

func (d *definitions) read(p []byte) (n int, err error) {
	switch {
	case d.heading != "":
		n = copy(p, d.heading)
		d.heading = d.heading[n:]
		return n, nil
	case d.block == nil:
		return 0, sessions.BlockFault(d.next())
	}
	n, err = d.block.Read(p)
	if err == io.EOF {
		d.block, err = nil, nil
	}
	if d.nth > 0 && d.count != d.nth {
		n = 0
	}
	return n, sessions.BlockFault(err)
}

// next reads the status line before a definition, or the final status line.
func (d *definitions) next() error {
	r, err := d.lines.ReadStatus()
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case r.Code != 151 && d.nth > d.count && r.Code == 250:
		return fetch.NotFound.Errorf("the word has %d definitions", d.count)
	case r.Code != 151:
		return endOf(r)
	}
	d.count++
	d.block = d.lines.Block(maxLine)
	if d.nth > 0 {
		return nil
	}
	if words := parseWords(r.Lines[0]); len(words) >= 3 {
		d.heading = "From " + words[2] + " [" + words[1] + "]:\r\n\r\n"
	} else {
		d.heading = "From " + tty.Escape(r.Lines[0]) + ":\r\n\r\n"
	}
	if d.count > 1 {
		d.heading = "\r\n" + d.heading
	}
	return nil
}

// parseWords splits a line into its atoms and quoted strings (RFC 2229 section
// 2.2).
func parseWords(s string) (words []string) {
	for {
		if s = strings.TrimLeft(s, " \t"); s == "" {
			return words
		}
		var word string
		word, s = cutWord(s)
		words = append(words, word)
	}
}

// cutWord returns the first atom or quoted string of s, and the rest.
func cutWord(s string) (word, rest string) {
	var b strings.Builder
	quoted := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == quoted:
			quoted = 0
		case quoted == 0 && (c == '"' || c == '\''):
			quoted = c
		case quoted == 0 && (c == ' ' || c == '\t'):
			return b.String(), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
