//go:build linux

package main_test

import (
	"context"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/interactive"
	"golang.org/x/sys/unix"
)

// TestSecretInterrupted cancels the context while the prompt is written. The
// terminal must get its echo back and keep it.
func TestSecretInterrupted(t *testing.T) {
	ours, theirs := openTerminal(t)
	defer ours.Close()
	defer theirs.Close()
	hasEcho := func() bool {
		state, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHO != 0
	}
	ctx, cancel := context.WithCancel(t.Context())
	prompt := func() {
		if hasEcho() {
			t.Error("the terminal has echo at the prompt")
		}
		cancel()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for !hasEcho() {
			<-tick.C
		}
		ours.Write([]byte("secret\n"))
	}
	if secret, err := interactive.ReadSecret(ctx, theirs, prompt); err != nil || string(secret) != "secret" {
		t.Errorf("got %q, %v", secret, err)
	}
	if !hasEcho() {
		t.Error("the terminal has no echo after the prompt")
	}
}
