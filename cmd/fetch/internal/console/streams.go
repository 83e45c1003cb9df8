// Package console contains the code that all commands of fetch share: the
// standard streams, the messages for the user, the exit codes and the flags that
// select messages.
package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// Streams contains the standard streams of the process and the flags for
// messages.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer // standard error, or the progress bars while they are shown
	messageFlags

	Interrupts Interrupts

	// Logs contains the open files of --stderr and --trace-ascii by their names. The
	// groups of --next share it. If it is nil, each command opens its files.
	Logs map[string]*os.File
}

// messageFlags are the flags that select the messages on standard error.
type messageFlags struct {
	Silent    bool
	showError bool
	Verbose   bool
	ErrorJSON bool
	Log       *slog.Logger // destination of all messages, or nil without --log-json
	traceName string       // file of --trace-ascii, or ""
	errorName string       // file of --stderr, or ""
	traceTime bool         // print the time before each line of -v
	traceTo   io.Writer    // destination of --trace-ascii, or nil for standard error
}

// Register registers the flags for messages.
func (f *messageFlags) Register(s *options.Set) {
	p := s.Section("Messages")
	p.BoolVarP(&f.Silent, "silent", "s", false, "print no progress, notes or errors, except usage errors")
	p.BoolVarP(&f.showError, "show-error", "S", false, "with -s, print errors")
	p.BoolVarP(&f.Verbose, "verbose", "v", false, "print requests, responses and connections")
	for _, name := range []string{"trace-ascii", "trace"} {
		p.Func(name, "like -v, but write to `FILE` (- for standard output)", func(file string) error {
			f.traceName, f.Verbose = file, true
			return nil
		})
	}
	p.Lookup("trace").Hidden = true
	p.StringVar(&f.errorName, "stderr", "", "write messages to `FILE` (- for standard output)")
	p.BoolVar(&f.traceTime, "trace-time", false, "with -v, print the time before each line")
	p.BoolVar(&f.ErrorJSON, "error-json", false, "print all messages as lines of JSON")
}

// OpenTrace creates the files of --stderr and --trace-ascii. The files are never
// closed, because lines are written until the process ends.
func (s *Streams) OpenTrace() error {
	switch s.errorName {
	case "":
	case "-":
		s.Stderr = s.Stdout
	default:
		file, err := s.openLog(s.errorName)
		if err != nil {
			return err
		}
		s.Stderr = file
	}
	switch s.traceName {
	case "", "%": // as in curl, % is standard error
		return nil
	case "-":
		s.traceTo = s.Stdout
		return nil
	}
	file, err := s.openLog(s.traceName)
	if err != nil {
		return err
	}
	s.traceTo = file
	return nil
}

// openLog returns the file of Logs with a name. If there is none, it creates one.
func (s *Streams) openLog(name string) (*os.File, error) {
	if file := s.Logs[name]; file != nil {
		return file, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	if s.Logs != nil {
		s.Logs[name] = file
	}
	return file, nil
}

// Print writes a line of text to standard output.
func (s *Streams) Print(text string) error { return WriteLine(s.Stdout, text) }

// PrintJSON prints a value as indented JSON. It escapes control characters.
func (s *Streams) PrintJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return LocalError(err)
	}
	return s.Print(string(tty.JSON(text)))
}

// WriteLine writes text and a line end.
func WriteLine(w io.Writer, text string) error {
	_, err := io.WriteString(w, text+"\n")
	return LocalError(err)
}

// Encode writes v to w as one line of JSON. It escapes control characters. It
// does not escape the characters <, > and &, which occur in URLs.
func Encode(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(tty.JSON(line.Bytes()))
	return LocalError(err)
}

// WriteFile writes text to the named file. If the name is "-", it writes to w.
// If the file is a terminal, it writes to the terminal. Otherwise it calls
// create, which writes the file.
func WriteFile(w io.Writer, name string, text []byte, create func() error) error {
	if name == "-" {
		return LocalError(terminal.Write(w, text))
	}
	if done, err := terminal.WriteTo(name, text); done {
		return LocalError(err)
	}
	return create()
}

// MaskLogin replaces the part of an option value before the last at sign by
// ***, because it may contain a password.
func MaskLogin(text string) string {
	if n := strings.LastIndexByte(text, '@'); n >= 0 {
		return "***" + text[n:]
	}
	return text
}

// errPipe is the error of a write to standard output after the reader has
// closed the pipe.
var errPipe = syscall.EPIPE

// FlushAfter writes the buffered output with flush. It returns err, which is
// usually the error of an earlier write, or else the error of flush.
func FlushAfter(err error, flush func() error) error {
	if flushed := LocalError(flush()); err == nil {
		return flushed
	}
	return err
}

// LocalError assigns the class fetch.Local to an error without a class, such as
// an error of writing a file. It returns other errors unchanged.
func LocalError(err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal && !errors.Is(err, errPipe) {
		return err
	}
	return fetch.Local.With(err)
}
