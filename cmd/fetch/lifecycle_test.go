//go:build linux

package main_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/peer"
)

// TestLifecycle is what can happen to the process and to the machine under
// it: a disk that fills, a signal, a kill, a second process. Each of its
// subtests runs the static binary of "make build" against a server on
// loopback, and where the kernel must fail at a certain call, under strace.
// With the build tag soak, TestSoakLifecycle takes more of everything.
//
// A failure says how the process ended, what it said and what is in its
// folder; the name of the subtest, or the message, says what was done to it.
// The same strace, its options in the test, shows the rest.
func TestLifecycle(t *testing.T) { lifecycle(t, few) }

// A share is how much of the tests without an end is done.
type share struct {
	calls int // of each kind at which a process is killed
	kills int // at random times
	pairs int // of processes with one target
	body  int64
}

var few = share{calls: 2, kills: 24, pairs: 50, body: 1 << 30}

func lifecycle(t *testing.T, s share) {
	l := &lab{fetch: build(t, ".", "fetch"), peak: build(t, "./testdata/peak", "peak"), share: s}
	for _, row := range []struct {
		name string
		run  func(*testing.T, *lab)
	}{
		{"disk is full", fullDisk},
		{"system call fails", failingCalls},
		{"no more files", noFiles},
		{"many bodies", inOrder},
		{"order of calls", callOrder},
		{"killed at a call", killedAtCalls},
		{"killed at random", killedAtRandom},
		{"killed in segments", killedInSegments},
		{"signal", signals},
		{"two processes", pairs},
		{"fifty processes", crowd},
		{"target", targets},
		{"memory", memory},
		{"memory, hostile", hostile},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.run(t, l)
		})
	}
}

// lab is where the processes are run.
type lab struct {
	fetch, peak string // paths of binaries
	share
}

// open returns a folder in memory, where there is one, that every account may
// enter. Of a real disk these tests would wear out the sync.
func open(t *testing.T) string {
	t.Helper()
	dir, err := openFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// ended is how a process ended: its exit code, or 128 and its signal, as a
// shell has it.
type ended struct {
	code   int
	said   string // to standard error
	stdout string
	took   time.Duration
}

func (e ended) String() string {
	return fmt.Sprintf("exit %d after %v, saying %q", e.code, e.took, e.said)
}

// patience is for a process that should have ended long ago.
const patience = 2 * time.Minute

// run runs fetch.
func (l *lab) run(t *testing.T, args ...string) ended {
	t.Helper()
	return run(t, exec.Command(l.fetch, args...))
}

func run(t *testing.T, c *exec.Cmd) ended {
	t.Helper()
	p := start(t, c)
	return p.wait(t)
}

// A process is one under way.
type process struct {
	*exec.Cmd
	began        time.Time
	stdout, said bytes.Buffer
	done         chan error
}

func start(t *testing.T, c *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: c, done: make(chan error, 1)}
	if c.Stdout == nil {
		c.Stdout = &p.stdout
	}
	c.Stderr = &p.said
	c.SysProcAttr = inherit(c.SysProcAttr)
	c.WaitDelay = time.Second
	p.began = time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- c.Wait() }()
	return p
}

// inherit has a process end with this one.
func inherit(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Setpgid = true
	return a
}

func (p *process) wait(t *testing.T) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case err := <-p.done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-ctx.Done():
		syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
		<-p.done
		t.Errorf("%q did not end: %s", p.Args, &p.said)
	}
	return ended{codeOf(p.ProcessState), p.said.String(), p.stdout.String(), time.Since(p.began)}
}

func codeOf(state *os.ProcessState) int {
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// A site serves bodies and counts who asks.
type site struct {
	*httptest.Server
	requests atomic.Int64

	mu     sync.Mutex
	bodies map[string][]byte
}

// clearFolder empties a folder.
func clearFolder(t *testing.T, dir string) {
	t.Helper()
	for _, name := range strings.Fields(names(t, dir)) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// serve starts a site; /N is a body of N bytes with a strong validator, /xN
// another of the same length.
func serve(t *testing.T) *site {
	t.Helper()
	s := &site{bodies: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		w.Header().Set("ETag", strconv.Quote(r.URL.Path))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.body(r.URL.Path)))
	}))
	t.Cleanup(s.Close)
	return s
}

// body is what the site has at path.
func (s *site) body(path string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.bodies[path]
	if ok {
		return b
	}
	n, _ := strconv.Atoi(strings.TrimLeft(path, "/x"))
	b = make([]byte, n)
	rand.NewChaCha8(sha256.Sum256([]byte(path))).Read(b)
	s.bodies[path] = b
	return b
}

// names are those in a folder, with a space between them.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// content is what a file holds; "" where there is none.
func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// strace runs fetch under strace and returns how it ended and what strace saw.
func (l *lab) strace(t *testing.T, options []string, args ...string) (ended, []string) {
	t.Helper()
	log := filepath.Join(open(t), "log")
	options = append([]string{"-f", "-qq", "-o", log}, options...)
	e := run(t, exec.Command(peer.Need(t, "strace", "strace"), append(append(options, l.fetch), args...)...))
	if strings.Contains(e.said, "PTRACE_") {
		t.Skipf("needs leave to trace: %s", e.said)
	}
	return e, joined(strings.Split(strings.TrimSpace(content(t, log)), "\n"))
}

// joined makes one line, at its end, of a call that strace tells in two because
// another thread did something meanwhile.
func joined(lines []string) (calls []string) {
	begun := map[string]string{} // by the number of the thread
	for _, line := range lines {
		thread, _, _ := strings.Cut(line, " ")
		if head, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			begun[thread] = head
			continue
		}
		if _, rest, ok := strings.Cut(line, " resumed>"); ok {
			line = begun[thread] + rest
		}
		calls = append(calls, line)
	}
	return calls
}
