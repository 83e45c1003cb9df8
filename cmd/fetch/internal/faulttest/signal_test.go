//go:build linux

package faulttest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// signals checks that fetch ends soon after SIGINT, SIGTERM or SIGHUP,
// wherever it waits. The exit code must name the signal. With -C - the partial
// file must remain, so that the next attempt resumes it.
func signals(t *testing.T, l *lab) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // otherwise the processes would inherit an ignored SIGHUP, as under nohup(1)
	defer signal.Stop(hangup)
	readRequest := faultnet.Expect("\r\n\r\n")
	head := "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 300_000)
	silent := faultnet.Script{faultnet.Stall()}
	for _, c := range []struct {
		name   string
		script faultnet.Script
		args   []string // OUT, URL and URLS are placeholders
		kept   bool
	}{
		{"during connect", faultnet.Script{faultnet.Blackhole()}, []string{"-o", "OUT", "URL"}, false},
		{"server without response", silent, []string{"-o", "OUT", "URL"}, false},
		{"during the TLS handshake", silent, []string{"-o", "OUT", "URLS"}, false},
		{"in the header", faultnet.Script{readRequest, faultnet.Send(head[:30]), faultnet.Stall()},
			[]string{"-o", "OUT", "URL"}, false},
		{"in the body", faultnet.Script{readRequest, faultnet.Send(head), faultnet.Stall()},
			[]string{"-o", "OUT", "URL"}, false},
		{"in the body, resumable", faultnet.Script{readRequest, faultnet.Send(head), faultnet.Stall()},
			[]string{"-C", "-", "-o", "OUT", "URL"}, true},
		{"in the body, to standard output", faultnet.Script{readRequest, faultnet.Send(head), faultnet.Stall()},
			[]string{"URL"}, false},
		{"in parallel bodies", faultnet.Script{readRequest, faultnet.Send(head), faultnet.Stall()},
			[]string{"-Z", "-o", "OUT", "-o", "-", "-o", "-", "-o", "-", "URL", "URL?1", "URL?2", "URL?3"}, false},
		{"in the delay before a retry", faultnet.Script{readRequest,
			faultnet.Send("HTTP/1.1 503 No\r\nRetry-After: 300\r\nContent-Length: 0\r\n\r\n"), faultnet.Stall()},
			[]string{"-o", "OUT", "URL"}, false},
		{"in a listing", faultnet.Script{readRequest,
			faultnet.Send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" +
				"<html><head><title>Index of /x/</title></head><body><h1>Index of /x/</h1><pre><a href=\"a\">a</a>\n"),
			faultnet.Stall()}, []string{"ls", "URL/"}, false},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(fmt.Sprintf("%s, %s", c.name, sig), func(t *testing.T) {
				s := faultnet.Listen(t, c.script)
				dir := commandtest.Folder(t)
				args := []string{"-q"}
				for _, a := range c.args {
					a = strings.Replace(a, "OUT", filepath.Join(dir, "out"), 1)
					a = strings.Replace(a, "URLS", "https://"+s.Addr().String()+"/x", 1)
					args = append(args, strings.Replace(a, "URL", "http://"+s.Addr().String()+"/x", 1))
				}
				all := 0
				if c.kept {
					all = 300_000
				}
				e := l.interrupt(t, exec.Command(l.fetch, args...), sig, filepath.Join(dir, ".out.part"), all)
				if names := commandtest.FileNames(t, dir); c.kept && names != ".out.part .out.part.state" || !c.kept && names != "" {
					t.Errorf("%v: unexpected files %q", e, names)
				}
				s.Close()
				if !c.kept {
					return
				}
				rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("ETag", `"v1"`)
					w.Header().Set("X-Asked", r.Header.Get("Range"))
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bytes.Repeat([]byte("x"), 1_000_000)))
				}))
				defer rest.Close()
				again := l.run(t, append(args, "-v", "--connect-to", "::"+rest.Listener.Addr().String())...)
				if again.Code != 0 || len(commandtest.Content(t, filepath.Join(dir, "out"))) != 1_000_000 ||
					!strings.Contains(again.Stderr, "Range: bytes=300000-") {
					t.Errorf("next attempt: %v", again)
				}
			})
		}
	}
	t.Run("pipe that is never read", func(t *testing.T) {
		s := serve(t)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		c := exec.Command(l.fetch, "-q", s.URL+"/1000000")
		c.Stdout = w
		l.interrupt(t, c, syscall.SIGINT, "", 0)
		w.Close()
	})
	t.Run("FIFO that is never read", func(t *testing.T) {
		s := serve(t)
		pipe := filepath.Join(commandtest.Folder(t), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		l.interrupt(t, exec.Command(l.fetch, "-q", "-o", pipe, s.URL+"/5"), syscall.SIGTERM, "", 0)
		if n := s.requests.Load(); n > 0 {
			t.Errorf("got %d requests, want none", n)
		}
	})
}

// interrupt waits until the process c is idle and the partial file at path part
// has size bytes. Then it sends the signal several times, as timeout(1) does,
// and requires that the signal ends the process.
func (l *lab) interrupt(t *testing.T, c *exec.Cmd, sig syscall.Signal, part string, size int) commandtest.Result {
	t.Helper()
	p := commandtest.Start(t, c)
	waitIdle(t, p, func() bool { return size == 0 || len(commandtest.Content(t, part)) == size })
	started := time.Now()
	for n := 0; n < 3 && time.Since(started) < 20*time.Millisecond; n++ { // later signals could arrive during the cleanup
		p.Process.Signal(sig)
		for pending(p) { // a second signal would merge with a pending one
		}
	}
	e := p.Wait(t)
	const maxDuration = 30 * time.Second // less than each other limit of the command, which is a minute or more
	if duration := time.Since(started); e.Code != 128+int(sig) || duration > maxDuration {
		t.Errorf("%v, %v after the signal, want exit code %d within %v", e, duration, 128+int(sig), maxDuration)
	}
	return e
}

// pending reports whether the process runs and has a signal that is not yet
// delivered.
func pending(p *commandtest.Process) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	ended := err != nil || bytes.Contains(status, []byte("State:\tZ"))
	return !ended && !bytes.Contains(status, []byte("ShdPnd:\t0000000000000000"))
}

// waitIdle waits until the process has been idle for 100 ms and ready returns
// true.
func waitIdle(t *testing.T, p *commandtest.Process, ready func() bool) {
	t.Helper()
	const look, while = 10 * time.Millisecond, 10
	last, still := "", 0
	for end := time.Now().Add(commandtest.WaitTimeout); (still < while || !ready()) && time.Now().Before(end); time.Sleep(look) {
		does := commandtest.Content(t, fmt.Sprintf("/proc/%d/io", p.Process.Pid)) + threadStates(p.Process.Pid)
		if still++; does != last {
			last, still = does, 0
		}
	}
}

// threadStates returns the kernel functions in which the threads of a process
// wait.
func threadStates(pid int) (all string) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	for _, path := range paths {
		where, _ := os.ReadFile(path)
		all += string(where) + " "
	}
	return all
}
