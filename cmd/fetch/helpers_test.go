package main

import (
	"io"
	"os/exec"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// run runs fetch in the process of the test and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return app.Run(args, stdin, stdout, stderr)
}

// lockedBuffer is standard error, to which parallel transfers write.
type lockedBuffer = commandtest.Buffer

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
