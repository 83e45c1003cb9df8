//go:build linux

package faulttest

import (
	"bytes"
	"crypto/sha256"
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
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
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
	l := &lab{fetch: commandtest.Fetch(t), peak: commandtest.Peak(t), workload: s}
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

// run runs fetch and waits until it exits.
func (l *lab) run(t *testing.T, args ...string) commandtest.Result {
	t.Helper()
	return commandtest.Exec(t, exec.Command(l.fetch, args...))
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
	for _, name := range strings.Fields(commandtest.FileNames(t, dir)) {
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

// strace runs fetch under strace and returns the result and the traced calls.
func (l *lab) strace(t *testing.T, options []string, args ...string) (commandtest.Result, []string) {
	t.Helper()
	log := filepath.Join(commandtest.Folder(t), "log")
	options = append([]string{"-f", "-qq", "-o", log}, options...)
	e := commandtest.Exec(t, exec.Command(peer.Need(t, "strace", "strace"), append(append(options, l.fetch), args...)...))
	if strings.Contains(e.Stderr, "PTRACE_") {
		t.Skipf("the system does not permit tracing: %s", e.Stderr)
	}
	return e, joinCalls(strings.Split(strings.TrimSpace(commandtest.Content(t, log)), "\n"))
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
