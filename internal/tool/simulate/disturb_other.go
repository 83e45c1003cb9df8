//go:build !unix

package main

import (
	"context"
	"os"
)

// disturb does nothing, because the system cannot stop processes.
func disturb(context.Context, *os.Process) {}
