//go:build unix

package commandtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// A Result describes a process that has ended. Its exit code is 128 plus the
// number of the signal if a signal ended the process.
type Result struct {
	Code     int
	Stderr   string
	Stdout   string
	Duration time.Duration
}

func (e Result) String() string {
	return fmt.Sprintf("exit code %d after %v, standard error %q", e.Code, e.Duration, e.Stderr)
}

// WaitTimeout limits the time of each process.
const WaitTimeout = 2 * time.Minute

// Exec runs a command until it exits.
func Exec(t *testing.T, c *exec.Cmd) Result {
	t.Helper()
	p := Start(t, c)
	return p.Wait(t)
}

// A Process is a command that has been started.
type Process struct {
	*exec.Cmd
	started        time.Time
	stdout, stderr bytes.Buffer
	done           chan error
}

// Start starts a command.
func Start(t *testing.T, c *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: c, done: make(chan error, 1)}
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
// that Wait can kill the process and its children.
func newGroup(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Setpgid = true
	return a
}

// Wait waits until the process exits. After WaitTimeout, it kills the process
// and its children.
func (p *Process) Wait(t *testing.T) Result {
	t.Helper()
	return p.WaitActive(t, nil)
}

// WaitActive is Wait for a process whose work takes longer. WaitTimeout starts
// again with each value of active, such as a request to the server of the test.
func (p *Process) WaitActive(t *testing.T, active <-chan struct{}) Result {
	t.Helper()
	timer := time.NewTimer(WaitTimeout)
	defer timer.Stop()
	for {
		select {
		case <-active:
			timer.Reset(WaitTimeout)
			continue
		case err := <-p.done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
		case <-timer.C:
			p.kill()
			t.Errorf("%q did not end within the timeout: %s", p.Args, &p.stderr)
		case <-t.Context().Done():
			p.kill()
		}
		return Result{codeOf(p.ProcessState), p.stderr.String(), p.stdout.String(), time.Since(p.started)}
	}
}

// kill kills the process and its children, and waits for the process.
func (p *Process) kill() {
	syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
	<-p.done
}

func codeOf(state *os.ProcessState) int {
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// RunInMount runs a script of /bin/sh in a new mount namespace. The working
// directory is an empty tmpfs of the given size. $1 is the path of fetch and $2
// the path of the directory.
func RunInMount(t *testing.T, program, size, script string) Result {
	t.Helper()
	args := []string{"--mount", "--user", "--map-root-user", "/bin/sh", "-c",
		`set -e; mount -t tmpfs -o "size=$3" tmpfs "$2"; cd "$2"; set +e; ` + script, "sh", program, Folder(t),
		size}
	e := Exec(t, exec.Command(peer.Need(t, "unshare", "util-linux"), args...))
	if strings.Contains(e.Stderr, "unshare:") || strings.Contains(e.Stderr, "mount:") {
		t.Skipf("the system does not permit user namespaces: %s", e.Stderr)
	}
	return e
}
