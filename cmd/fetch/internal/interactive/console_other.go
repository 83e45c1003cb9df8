//go:build !unix

package interactive

import (
	"context"
	"os"

	"golang.org/x/term"
)

// setLineMode has no effect, because the terminal is always in line mode.
func setLineMode(int, bool) error { return nil }

// ReadSecret calls prompt and reads a line from the terminal in without echo.
func ReadSecret(_ context.Context, in *os.File, prompt func()) ([]byte, error) {
	prompt()
	return term.ReadPassword(int(in.Fd()))
}

// handleSignals has no effect, because the system has no terminal signals.
func (*Console) handleSignals(context.Context, func(cols, rows int)) {}
