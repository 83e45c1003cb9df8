package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// urls reads the URLs of the arguments, and then those of the input file.
type urls struct {
	args  []string
	name  string // of the input file; empty: none
	stdin io.Reader

	file  *os.File // nil: not open, or standard input
	lines *bufio.Reader
	line  int
	err   error // after the last line
}

func (a *app) typedURLs(args []string) urls {
	return urls{args: args, name: a.flags.inputFile, stdin: a.stdin}
}

// next returns a URL and its line in the input file, 0 for an argument; io.EOF
// behind the last one.
func (u *urls) next() (text string, line int, err error) {
	if len(u.args) > 0 {
		text, u.args = u.args[0], u.args[1:]
		return text, 0, nil
	}
	if u.lines == nil && u.err == nil {
		u.err = u.open()
	}
	for u.err == nil {
		if text := u.read(); text != "" && text[0] != '#' {
			return text, u.line, nil
		}
	}
	return "", 0, u.err
}

// maxLine is longer than any URL that the Client takes.
const maxLine = 128 << 10

func (u *urls) open() error {
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

// read returns the next line, without the space around it.
func (u *urls) read() string {
	u.line++
	text, err := u.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = u.lines.ReadSlice('\n')
		}
		text = []byte("(too long)") // no URL, nor taken for a host
	}
	if u.err = err; err != nil && err != io.EOF {
		u.err = fetch.Local.With(err)
	}
	return strings.TrimSpace(unmarked(string(text), u.line))
}

// unmarked is the line-th line of a file without the mark that some editors
// put before the first one.
func unmarked(text string, line int) string {
	if line == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text
}

func (u *urls) close() {
	if u.file != nil {
		u.file.Close()
	}
}
