package arguments

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// A Reader reads URLs from the arguments and then from the input file.
type Reader struct {
	Args  []Argument
	Name  string // name of the input file, or ""
	Stdin io.Reader

	file     *os.File // input file, or nil for standard input
	lines    *bufio.Reader
	line     int
	index    int   // position of the next line among all arguments and lines
	expanded int64 // number of URLs of Args[0] that Next has returned
	err      error // io.EOF after the last line
}

// Next returns the next URL, or io.EOF after the last URL. It expands globs one
// URL at a time, so that a glob with many URLs needs little memory.
func (u *Reader) Next() (Argument, error) {
	if len(u.Args) > 0 {
		return u.NextArgument(), nil
	}
	return u.nextLine()
}

// NextArgument returns the next URL of Args, which must not be empty.
func (u *Reader) NextArgument() Argument {
	a := u.Args[0]
	count := int64(1)
	if a.Pattern != nil {
		count, a = a.Pattern.Count(), a.expansion(u.expanded)
	}
	if u.expanded++; u.expanded >= count {
		u.Args, u.index, u.expanded = u.Args[1:], a.Index+1, 0
	}
	return a
}

// nextLine returns the URL in the next line of the input file.
func (u *Reader) nextLine() (Argument, error) {
	if u.lines == nil && u.err == nil {
		u.err = u.open()
	}
	for u.err == nil {
		if text := u.read(); text != "" && text[0] != '#' {
			u.index++
			return Argument{Text: text, Line: u.line, Index: u.index - 1}, nil
		}
	}
	return Argument{}, u.err
}

// maxLine limits the length of a line in the input file, in bytes. It is larger
// than the maximum length of a URL.
const maxLine = 128 << 10

func (u *Reader) open() error {
	r := u.Stdin
	switch u.Name {
	case "":
		return io.EOF
	case "-":
	default:
		f, err := os.Open(u.Name)
		if err != nil {
			return fetch.Local.With(err)
		}
		u.file, r = f, f
	}
	u.lines = bufio.NewReaderSize(r, maxLine)
	return nil
}

// read returns the next line of the input file without surrounding space.
func (u *Reader) read() string {
	u.line++
	text, err := u.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = u.lines.ReadSlice('\n')
		}
		text = []byte("(too long)") // neither a URL nor a host name
	}
	if u.err = err; err != nil && err != io.EOF {
		u.err = fetch.Local.With(err)
	}
	return strings.TrimSpace(withoutBOM(string(text), u.line))
}

// withoutBOM removes the byte order mark from the first line of a file. Other
// lines are returned unchanged.
func withoutBOM(text string, line int) string {
	if line == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text
}

func (u *Reader) Close() {
	if u.file != nil {
		u.file.Close()
	}
}

// ParseURL parses a URL that the user entered. The URL may contain Unicode
// characters, and its scheme may be missing. ParseURL prints a note if the URL
// differs from the text, or if the host may be misleading.
func ParseURL(s *console.Streams, a Argument, defaultScheme string) (uri.URI, error) {
	u, changed, err := a.Parse(defaultScheme)
	if err != nil {
		return u, &fetch.Error{Op: "parse", Err: fetch.BadURL.With(err)}
	}
	if changed && !a.Quiet {
		s.Note("the URL is taken for %s", u)
	}
	if iri.Notes(u) != "" && !a.Quiet {
		s.Note("check the URL: %s", iri.Display(u))
	}
	return u, nil
}

// Parse returns the URL of the argument. The result changed reports whether the
// scheme was guessed or typed text was repaired.
func (a Argument) Parse(defaultScheme string) (u uri.URI, changed bool, err error) {
	if !a.URL.IsZero() {
		return a.URL, false, nil
	}
	u, changed, err = iri.Guess(a.Text, defaultScheme)
	if !a.Typed {
		return u, changed, err
	}
	bare := uri.Unwrap(a.Text)
	if err != nil {
		if repaired, _, failed := iri.Guess(uri.Repair(bare), defaultScheme); failed == nil {
			return repaired, true, nil
		}
	}
	return u, changed || bare != a.Text, err
}
