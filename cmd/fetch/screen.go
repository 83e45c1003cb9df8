package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/uri"
)

// plain returns a line for a terminal or a log: without secrets, and without
// bytes that act on a terminal.
func plain(line string) string { return tty.Escape(uri.Redact(line)) }

// withoutLogin returns the text of an option for an error. Text before an at
// sign is masked, because it may be a login where none is expected.
func withoutLogin(text string) string {
	if n := strings.LastIndexByte(text, '@'); n >= 0 {
		return "***" + text[n:]
	}
	return text
}

// show writes text that a server may have chosen: on a terminal without what
// would act on it.
func show(w io.Writer, text []byte) error {
	safe, flush := screen(w)
	_, err := safe.Write(text)
	return local(errors.Join(err, flush()))
}

// screen returns a buffered writer to w for text that a server or an archive
// may have chosen, and the function that flushes it. If w is a terminal,
// nothing in the text acts on it.
func screen(w io.Writer) (io.Writer, func() error) {
	if terminal(w) {
		safe := tty.NewWriter(w)
		return safe, safe.Flush
	}
	b := bufio.NewWriter(w)
	return b, b.Flush
}

// openTerminal opens the file called name if it is a terminal, such as
// /dev/tty or /dev/stdout, and returns nil otherwise.
func openTerminal(name string) *os.File {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	if !isTerminal(f) {
		f.Close()
		return nil
	}
	return f
}

// showAt writes text to the terminal called name and reports whether name is a
// terminal.
func showAt(name string, text []byte) (bool, error) {
	f := openTerminal(name)
	if f == nil {
		return false, nil
	}
	return true, errors.Join(show(f, text), local(f.Close()))
}
