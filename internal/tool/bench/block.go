package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/anyurl/fetch/internal/test/peer"
)

// A block implements peer.TB for a program that is not a test. The method run
// calls a function, and then the functions that were registered with Cleanup.
// Fatalf and Skipf end only the called function.
type block struct {
	ctx     context.Context
	failed  bool
	cleanup []func()
}

var _ peer.TB = (*block)(nil)

func (b *block) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, clean := range slices.Backward(b.cleanup) {
				clean()
			}
		}()
		f()
	}()
	<-done
}

func (b *block) Helper()          {}
func (b *block) Failed() bool     { return b.failed }
func (b *block) Cleanup(f func()) { b.cleanup = append(b.cleanup, f) }

func (b *block) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (b *block) Skipf(format string, args ...any) {
	b.Logf("skipped: "+format, args...)
	runtime.Goexit()
}

func (b *block) Fatalf(format string, args ...any) {
	b.failed = true
	b.Logf(format, args...)
	runtime.Goexit()
}
