//go:build !unix

package main

import "context"

// takeLines leaves the terminal as it is: so it takes lines.
func takeLines(int, bool) error { return nil }

// follow has no signals to mind.
func (*console) follow(context.Context, func(cols, rows int)) {}
