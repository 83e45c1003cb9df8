//go:build !unix

package interactive

import (
	"context"
	"os"

	"golang.org/x/term"
)

// setLineMode does nothing on this system, where terminals are always in line
// mode.
func setLineMode(int, bool) error { return nil }

// ReadSecret calls prompt and then reads a line from the terminal without echo.
func ReadSecret(_ context.Context, in *os.File, prompt func()) ([]byte, error) {
	prompt()
	return term.ReadPassword(int(in.Fd()))
}

// handleSignals does nothing on this system, which has no terminal signals.
func (*Console) handleSignals(context.Context, func(cols, rows int)) {}
