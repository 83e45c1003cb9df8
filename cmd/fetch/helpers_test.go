package main

import (
	"os/exec"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

func runFetch(t *testing.T, want int, args ...string) string {
	t.Helper()
	return commandtest.Run(t, want, args...)
}

func runFetchStderr(t *testing.T, want int, args ...string) (out, errors string) {
	t.Helper()
	return commandtest.RunStderr(t, want, args...)
}

func contains(t *testing.T, got string, wants ...string) {
	t.Helper()
	commandtest.Contains(t, got, wants...)
}

func fetchProcess(args ...string) *exec.Cmd { return commandtest.Command(args...) }
