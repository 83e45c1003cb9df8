//go:build unix

package main

import (
	"context"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// disturb stops and continues a process until ctx ends or the process has ended.
func disturb(ctx context.Context, p *os.Process) {
	for ctx.Err() == nil {
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			if p.Signal(s) != nil {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(rand.N(20 * time.Millisecond)):
			}
		}
	}
}
