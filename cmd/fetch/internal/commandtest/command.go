// Package commandtest runs the command in tests: in the process of the test, as a
// process of the test binary, or as a program that is built without the race
// detector.
package commandtest

import (
	"bytes"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests of a package. A test binary that is started with the name
// fetch runs the command instead. At the end, Main removes the programs of
// [Build].
func Main(m *testing.M) {
	// With -race, each of the hundreds of processes would sleep for a second
	// before it exits.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	testscript.Main(tests{m}, map[string]func(){"fetch": func() {
		log.SetOutput(io.Discard) // as in the main function
		os.Exit(app.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}})
}

// tests runs all tests, and then removes the programs that they have built.
type tests struct{ *testing.M }

func (m tests) Run() int {
	defer removePrograms()
	return m.M.Run()
}

// Command returns a command that runs the test binary as fetch. The first
// argument is the name of the program.
func Command(args ...string) *exec.Cmd {
	return &exec.Cmd{Path: "/proc/self/exe", Args: args}
}

// Run runs fetch in the process of the test, checks the exit code and returns the
// output.
func Run(t *testing.T, want int, args ...string) string {
	t.Helper()
	out, _ := RunStderr(t, want, args...)
	return out
}

// RunStderr is like [Run]. It also returns the text on standard error.
func RunStderr(t *testing.T, want int, args ...string) (out, errors string) {
	t.Helper()
	var stdout bytes.Buffer
	var stderr Buffer
	all := append([]string{"--no-config", "--retry", "0"}, args...)
	if got := app.Run(all, strings.NewReader(""), &stdout, &stderr); got != want {
		t.Errorf("fetch %q: exit code %d, want %d: %s", args, got, want, &stderr)
	}
	return stdout.String(), stderr.String()
}

// A Buffer is a buffer for standard error, to which parallel transfers write.
type Buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// WriteString hides the method of the Buffer, which io.WriteString would call.
func (b *Buffer) WriteString(text string) (int, error) { return b.Write([]byte(text)) }

// Contains checks that got contains each of the texts.
func Contains(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
