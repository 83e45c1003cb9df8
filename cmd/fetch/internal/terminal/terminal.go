// Package terminal writes text to terminals. It escapes control characters in
// text from servers and archives.
package terminal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
	"golang.org/x/term"
)

// defaultWidth and defaultHeight are the size that is assumed if the size of a
// terminal is unknown, in columns and rows.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// Plain prepares a line of text for a terminal or a log. It masks passwords and
// escapes control characters.
func Plain(line string) string { return tty.Escape(uri.Redact(line)) }

// Is reports whether v is a terminal. If v has a method Terminal() bool, Is
// returns the result of the method.
func Is(v any) bool {
	switch v := v.(type) {
	case *os.File:
		return term.IsTerminal(int(v.Fd()))
	case interface{ Terminal() bool }:
		return v.Terminal()
	}
	return false
}

// Width returns the number of columns of the terminal w, or 80 if the number is
// unknown.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}

// Height returns the number of rows of the terminal w, or 24 if the number is
// unknown.
func Height(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
	}
	return defaultHeight
}

// Colors reports whether w is a terminal on which colors may be used. The
// environment variable NO_COLOR turns colors off (https://no-color.org).
func Colors(w io.Writer) bool {
	kind := os.Getenv("TERM")
	return Is(w) && os.Getenv("NO_COLOR") == "" && kind != "" && kind != "dumb"
}

// hyperlinkVariables lists environment variables of terminals that display
// hyperlinks (OSC 8).
var hyperlinkVariables = []string{"VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM", "WEZTERM_PANE", "ITERM_SESSION_ID",
	"GHOSTTY_RESOURCES_DIR", "ALACRITTY_WINDOW_ID"}

// Hyperlinks reports whether w is a terminal that displays hyperlinks. Terminals
// do not answer a query for this feature, so the result depends on environment
// variables. FORCE_HYPERLINK=1 and FORCE_HYPERLINK=0 override them. Within tmux
// and screen, the default is false, because the variables may describe another
// terminal.
func Hyperlinks(w io.Writer) bool {
	kind := os.Getenv("TERM")
	if !Is(w) || kind == "" || kind == "dumb" {
		return false
	}
	if force := os.Getenv("FORCE_HYPERLINK"); force != "" {
		return force != "0"
	}
	if strings.HasPrefix(kind, "screen") || strings.HasPrefix(kind, "tmux") || kind == "linux" {
		return false
	}
	for _, name := range hyperlinkVariables {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return strings.HasPrefix(kind, "foot")
}

// Open opens the terminal with the given file name, such as /dev/tty. It
// returns nil if the file is not a terminal.
func Open(name string) *os.File {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	if !Is(f) {
		f.Close()
		return nil
	}
	return f
}

// NewWriter returns a buffered writer to w, and a function that flushes the
// buffer. If w is a terminal, the writer escapes control characters.
func NewWriter(w io.Writer) (io.Writer, func() error) {
	if Is(w) {
		safe := tty.NewWriter(w)
		return safe, safe.Flush
	}
	b := bufio.NewWriter(w)
	return b, b.Flush
}

// Write writes text from a server to w. If w is a terminal, Write escapes
// control characters.
func Write(w io.Writer, text []byte) error {
	safe, flush := NewWriter(w)
	_, err := safe.Write(text)
	return errors.Join(err, flush())
}

// WriteTo writes text from a server to the terminal with the given file name.
// It returns false if the file is not a terminal.
func WriteTo(name string, text []byte) (bool, error) {
	f := Open(name)
	if f == nil {
		return false, nil
	}
	return true, errors.Join(Write(f, text), f.Close())
}
