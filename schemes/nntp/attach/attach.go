// Package attach takes out of a message or an article what is packed in it:
// the parts of MIME, and files encoded by yEnc or uuencode.
//
// Call Part for one part of a message by its number, or Parts for all; Decode
// for the file that a text holds, be it an article or the Body of a part. All
// of them read streams and hold no part in memory. Names that they find are
// the sender's words, and no file names until somebody has looked at them.
package attach

import (
	"bufio"
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A File is what Decode finds.
type File struct {
	Name string // as the sender has it
	Size int64  // of the whole file in bytes; -1 where nobody tells

	// Of a file in several articles: Body is Part of Total (zero where nobody
	// tells) and begins at byte Offset.
	Part, Total int
	Offset      int64

	// Body ends with io.EOF only where the encoding's own end was met, with
	// the length and the sum that are given there: else with an error of Fault
	// Truncated or Mismatch.
	Body io.Reader
}

// Decode finds the first file encoded in r by yEnc, uuencode or base64 between
// "begin-base64" and "====". It reads r as far as Body is read. A text without
// such a file is an error of Fault NotFound.
func Decode(r io.Reader) (*File, error) {
	in := &lines{r: bufio.NewReaderSize(r, bufferSize)}
	for {
		text, whole, err := in.next()
		if err == io.EOF {
			return nil, fetch.NotFound.Errorf("no file encoded by yEnc or uuencode")
		}
		if err != nil {
			return nil, err
		}
		if !whole {
			continue
		}
		for _, begin := range []func(string, *lines) (*File, bool, error){beginYEnc, beginUU} {
			if f, ok, err := begin(string(text), in); ok || err != nil {
				return f, err
			}
		}
	}
}

// bufferSize is how much of a line is seen at once. Lines that say something
// are shorter.
const bufferSize = 16 << 10

// lines reads lines without their ends.
type lines struct {
	r      *bufio.Reader
	inside bool // of a line whose beginning was too long
	err    error
}

// next returns a line, or a part of a line that is too long: whole is false for
// each part of it. The text is valid until the next call. A last line without an
// end is a line too.
func (l *lines) next() (text []byte, whole bool, err error) {
	if l.err != nil {
		return nil, false, l.err
	}
	text, err = l.r.ReadSlice('\n')
	ended := err == nil
	switch {
	case err == bufio.ErrBufferFull:
	case err != nil && len(text) == 0:
		l.err = err
		return nil, false, err
	case err != nil:
		l.err = err
	}
	whole = !l.inside && err != bufio.ErrBufferFull
	l.inside = err == bufio.ErrBufferFull
	if ended {
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	}
	return text, whole, nil
}

// cut says that the input ended within an encoded file.
func cut(err error) error {
	if err == io.EOF {
		return fetch.Truncated.Errorf("encoded file has no end: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// A chunked is a reader of what next makes, a piece at a time.
type chunked struct {
	next func() ([]byte, error)
	left []byte
	err  error
}

func (c *chunked) Read(p []byte) (int, error) {
	for len(c.left) == 0 && c.err == nil && len(p) > 0 {
		c.left, c.err = c.next()
	}
	if len(c.left) == 0 && len(p) > 0 {
		return 0, c.err
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}
