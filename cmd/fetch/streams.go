package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// streams are the standard streams of the process. Every command writes its
// messages through them.
type streams struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer // standard error, or the progress bars while they are shown
	messageFlags
}

// messageFlags select the messages on standard error.
type messageFlags struct {
	silent    bool
	showError bool
	verbose   bool
	errorJSON bool
}

func (f *messageFlags) register(s *options.Set) {
	p := s.Section("Messages")
	p.BoolVarP(&f.silent, "silent", "s", false, "print no progress, notes or errors")
	p.BoolVarP(&f.showError, "show-error", "S", false, "with -s, print errors")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "print requests, responses and connections")
	p.BoolVar(&f.errorJSON, "error-json", false, "print each error as a line of JSON")
}

// note writes a note for the user to standard error.
func (s *streams) note(format string, args ...any) {
	if !s.silent {
		fmt.Fprintf(s.stderr, "fetch: %s\n", terminal.Plain(fmt.Sprintf(format, args...)))
	}
}

// trace returns a Trace that writes notes, and details if -v is set.
func (s *streams) trace() *fetch.Trace {
	t := &fetch.Trace{Note: func(text string) { s.note("%s", text) }}
	if s.verbose {
		t.Detail = t.Note
	}
	return t
}

// print writes a line of text to standard output.
func (s *streams) print(text string) error { return writeLine(s.stdout, text) }

func writeLine(w io.Writer, text string) error {
	_, err := io.WriteString(w, text+"\n")
	return local(err)
}

// encode writes v to w as one line of JSON. It does not escape the characters
// <, > and & of URLs. It escapes control characters.
func encode(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(tty.JSON(line.Bytes()))
	return local(err)
}

// writeFile writes text to w if name is "-", and to the terminal if name is a
// terminal. Otherwise it calls create, which writes the file.
func writeFile(w io.Writer, name string, text []byte, create func() error) error {
	if name == "-" {
		return local(terminal.Write(w, text))
	}
	if done, err := terminal.WriteTo(name, text); done {
		return local(err)
	}
	return create()
}

// maskLogin masks the characters of an option value up to the last at sign,
// because they may be a user name and a password.
func maskLogin(text string) string {
	if n := strings.LastIndexByte(text, '@'); n >= 0 {
		return "***" + text[n:]
	}
	return text
}

// errPipe reports that the reader of standard output has closed the pipe.
var errPipe = syscall.EPIPE

// local assigns the class Local to an error without a class. Such an error
// occurs when a file is written. Errors of a response body already have a
// class.
func local(err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal && !errors.Is(err, errPipe) {
		return err
	}
	return fetch.Local.With(err)
}
