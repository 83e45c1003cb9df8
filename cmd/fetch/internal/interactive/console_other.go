//go:build !unix

package interactive

import "context"

// setLineMode has no effect, because the terminal is always in line mode.
func setLineMode(int, bool) error { return nil }

// handleSignals has no effect, because the system has no terminal signals.
func (*Console) handleSignals(context.Context, func(cols, rows int)) {}
