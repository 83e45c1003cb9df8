//go:build !unix

package interactive

import "context"

// setLineMode does nothing, because the terminal is in line mode already.
func setLineMode(int, bool) error { return nil }

// handleSignals does nothing, because the system has no signals for terminals.
func (*Console) handleSignals(context.Context, func(cols, rows int)) {}
