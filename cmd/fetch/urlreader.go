package main

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

// A urlReader reads URLs from the arguments and then from the input file.
type urlReader struct {
	args  []argument
	name  string // name of the input file, or ""
	stdin io.Reader

	file     *os.File // input file, or nil for standard input
	lines    *bufio.Reader
	line     int
	index    int   // position of the next line among all arguments and lines
	expanded int64 // number of URLs of args[0] that next has returned
	err      error // io.EOF after the last line
}

// next returns the next URL, or io.EOF after the last URL. It expands globs one
// URL at a time, so that a glob with many URLs needs little memory.
func (u *urlReader) next() (argument, error) {
	if len(u.args) > 0 {
		return u.nextArgument(), nil
	}
	return u.nextLine()
}

// nextArgument returns the next URL of args, which must not be empty.
func (u *urlReader) nextArgument() argument {
	a := u.args[0]
	count := int64(1)
	if a.pattern != nil {
		count, a = a.pattern.Count(), a.expansion(u.expanded)
	}
	if u.expanded++; u.expanded >= count {
		u.args, u.index, u.expanded = u.args[1:], a.index+1, 0
	}
	return a
}

// nextLine returns the URL in the next line of the input file.
func (u *urlReader) nextLine() (argument, error) {
	if u.lines == nil && u.err == nil {
		u.err = u.open()
	}
	for u.err == nil {
		if text := u.read(); text != "" && text[0] != '#' {
			u.index++
			return argument{text: text, line: u.line, index: u.index - 1}, nil
		}
	}
	return argument{}, u.err
}

// maxLine limits the length of a line in the input file, in bytes. It is larger
// than the maximum length of a URL.
const maxLine = 128 << 10

func (u *urlReader) open() error {
	r := u.stdin
	switch u.name {
	case "":
		return io.EOF
	case "-":
	default:
		f, err := os.Open(u.name)
		if err != nil {
			return fetch.Local.With(err)
		}
		u.file, r = f, f
	}
	u.lines = bufio.NewReaderSize(r, maxLine)
	return nil
}

// read returns the next line of the input file without surrounding space.
func (u *urlReader) read() string {
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

func (u *urlReader) close() {
	if u.file != nil {
		u.file.Close()
	}
}

// parseURL parses a URL that the user entered. The URL may contain Unicode
// characters, and its scheme may be missing. parseURL prints a note if the URL
// differs from the text, or if the host may be misleading.
func parseURL(s *console.Streams, a argument, defaultScheme string) (uri.URI, error) {
	u, changed, err := a.parse(defaultScheme)
	if err != nil {
		return u, &fetch.Error{Op: "parse", Err: fetch.BadURL.With(err)}
	}
	if changed && !a.quiet {
		s.Note("the URL is taken for %s", u)
	}
	if iri.Notes(u) != "" && !a.quiet {
		s.Note("check the URL: %s", iri.Display(u))
	}
	return u, nil
}

// parse returns the URL of the argument. The result changed reports whether the
// scheme was guessed or typed text was repaired.
func (a argument) parse(defaultScheme string) (u uri.URI, changed bool, err error) {
	if !a.url.IsZero() {
		return a.url, false, nil
	}
	u, changed, err = iri.Guess(a.text, defaultScheme)
	if !a.typed {
		return u, changed, err
	}
	bare := uri.Unwrap(a.text)
	if err != nil {
		if repaired, _, failed := iri.Guess(uri.Repair(bare), defaultScheme); failed == nil {
			return repaired, true, nil
		}
	}
	return u, changed || bare != a.text, err
}
