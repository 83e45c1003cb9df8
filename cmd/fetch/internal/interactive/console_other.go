//go:build !unix

package interactive

import "context"

// setLineMode returns nil, because the terminal is in line mode already.
func setLineMode(int, bool) error { return nil }

// handleSignals returns at once, because the system has no signals for
// terminals.
func (*Console) handleSignals(context.Context, func(cols, rows int)) {}
