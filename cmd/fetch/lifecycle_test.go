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

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/testdir"
)

// TestLifecycle tests failures of the process and of the system: a full disk, a
// signal, a kill and a second process. The subtests run the built command
// against a server on loopback. Subtests that need a failing system call run
// the command under strace. TestSoakLifecycle, with the build tag soak, runs
// more iterations.
//
// A failure message contains the exit code, the text on standard error and the
// files in the output folder.
func TestLifecycle(t *testing.T) { lifecycle(t, shortWorkload) }

// A workload sets the number of iterations and the size of the body.
type workload struct {
	calls int   // kills per kind of system call
	kills int   // kills at random times
	pairs int   // pairs of processes with the same output file
	body  int64 // size of the body in bytes
}

var shortWorkload = workload{calls: 2, kills: 24, pairs: 50, body: 1 << 30}

func lifecycle(t *testing.T, s workload) {
	l := &lab{fetch: build(t, ".", "fetch"), peak: build(t, "./testdata/peak", "peak"), workload: s}
	for _, row := range []struct {
		name string
		run  func(*testing.T, *lab)
	}{
		{"disk is full", fullDisk},
		{"archive on a read-only medium", readOnlyArchive},
		{"system call fails", failingCalls},
		{"limit of open files", fileLimit},
		{"order of parallel bodies", outputOrder},
		{"order of system calls", callOrder},
		{"killed at a system call", killedAtCalls},
		{"killed at a random time", killedAtRandom},
		{"killed in segments", killedInSegments},
		{"signal", signals},
		{"two processes", twoProcesses},
		{"fifty processes", fiftyProcesses},
		{"output file", outputTargets},
		{"memory", memory},
		{"memory for endless replies", endlessReplies},
		{"memory for large records", largeRecords},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.run(t, l)
		})
	}
}

// A lab runs the built command.
type lab struct {
	fetch, peak string // paths of binaries
	workload
}

// tempFolder returns a new folder that all users may read. If possible, it is
// in memory, because these tests sync very often.
func tempFolder(t *testing.T) string {
	t.Helper()
	dir, err := testdir.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A result describes a process that has ended. Its exit code is 128 plus the
// number of the signal if a signal ended the process. ~lifecycle_test.go 99 //
// to standard error =>
type result struct {
	code     int
	stderr   string
	stdout   string
	duration time.Duration
}

func (e result) String() string {
	return fmt.Sprintf("exit code %d after %v, standard error %q", e.code, e.duration, e.stderr)
}

// waitTimeout limits the time of each process.
const waitTimeout = 2 * time.Minute

// run runs fetch and waits until it exits.
func (l *lab) run(t *testing.T, args ...string) result {
	t.Helper()
	return run(t, exec.Command(l.fetch, args...))
}

func run(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	p := start(t, c)
	return p.wait(t)
}

// A process is a command that has been started.
type process struct {
	*exec.Cmd
	started        time.Time
	stdout, stderr bytes.Buffer
	done           chan error
}

func start(t *testing.T, c *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: c, done: make(chan error, 1)}
	if c.Stdout == nil {
		c.Stdout = &p.stdout
	}
	c.Stderr = &p.stderr
	c.SysProcAttr = newGroup(c.SysProcAttr)
	c.WaitDelay = time.Second
	p.started = time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- c.Wait() }()
	return p
}

// newGroup returns the attributes a for a process in a new process group, so
// that wait can kill the process and its children.
func newGroup(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Setpgid = true
	return a
}

func (p *process) wait(t *testing.T) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
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
		t.Errorf("%q did not end within the timeout: %s", p.Args, &p.stderr)
	}
	return result{codeOf(p.ProcessState), p.stderr.String(), p.stdout.String(), time.Since(p.started)}
}

func codeOf(state *os.ProcessState) int {
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// A site serves bodies and counts the requests.
type site struct {
	*httptest.Server
	requests atomic.Int64

	mu     sync.Mutex
	bodies map[string][]byte
}

// clearFolder removes all files in a folder.
func clearFolder(t *testing.T, dir string) {
	t.Helper()
	for _, name := range strings.Fields(names(t, dir)) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// serve starts a site. The body at /N has N bytes and a strong validator. The
// body at /xN has the same length and other contents.
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

// body returns the body at path.
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

// names returns the file names in a folder, separated by spaces.
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

// content returns the contents of a file, or "" if the file does not exist.
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

// strace runs fetch under strace and returns the result and the traced calls.
func (l *lab) strace(t *testing.T, options []string, args ...string) (result, []string) {
	t.Helper()
	log := filepath.Join(tempFolder(t), "log")
	options = append([]string{"-f", "-qq", "-o", log}, options...)
	e := run(t, exec.Command(peer.Need(t, "strace", "strace"), append(append(options, l.fetch), args...)...))
	if strings.Contains(e.stderr, "PTRACE_") {
		t.Skipf("the system does not permit tracing: %s", e.stderr)
	}
	return e, joinCalls(strings.Split(strings.TrimSpace(content(t, log)), "\n"))
}

// joinCalls joins the two lines of a call that strace splits when another
// thread makes a call at the same time.
func joinCalls(lines []string) (calls []string) {
	unfinished := map[string]string{} // keyed by the thread ID
	for _, line := range lines {
		thread, _, _ := strings.Cut(line, " ")
		if head, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			unfinished[thread] = head
			continue
		}
		if _, rest, ok := strings.Cut(line, " resumed>"); ok {
			line = unfinished[thread] + rest
		}
		calls = append(calls, line)
	}
	return calls
}
