//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/faultnet"
)

// signals: wherever it waits, a process ends within two seconds of a signal,
// says so by its exit code, and keeps what it has where -C - asks for it.
func signals(t *testing.T, l *lab) {
	asked := faultnet.Expect("\r\n\r\n")
	head := "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 300_000)
	silent := faultnet.Script{faultnet.Stall()}
	for _, c := range []struct {
		name   string
		script faultnet.Script
		args   []string // OUT and URL are replaced
		kept   bool
	}{
		{"connecting", faultnet.Script{faultnet.Blackhole()}, []string{"-o", "OUT", "URL"}, false},
		{"nothing is answered", silent, []string{"-o", "OUT", "URL"}, false},
		{"in TLS", silent, []string{"-o", "OUT", "URLS"}, false},
		{"in the head", faultnet.Script{asked, faultnet.Send(head[:30]), faultnet.Stall()}, []string{"-o", "OUT", "URL"}, false},
		{"in the body", faultnet.Script{asked, faultnet.Send(head), faultnet.Stall()}, []string{"-o", "OUT", "URL"}, false},
		{"in the body, resumable", faultnet.Script{asked, faultnet.Send(head), faultnet.Stall()}, []string{"-C", "-", "-o", "OUT", "URL"}, true},
		{"in the body, to standard output", faultnet.Script{asked, faultnet.Send(head), faultnet.Stall()}, []string{"URL"}, false},
		{"in many bodies", faultnet.Script{asked, faultnet.Send(head), faultnet.Stall()},
			[]string{"-Z", "-o", "OUT", "-o", "-", "-o", "-", "-o", "-", "URL", "URL?1", "URL?2", "URL?3"}, false},
		{"before another attempt", faultnet.Script{asked, faultnet.Send("HTTP/1.1 503 No\r\nRetry-After: 300\r\nContent-Length: 0\r\n\r\n"), faultnet.Stall()},
			[]string{"-o", "OUT", "URL"}, false},
		{"in a listing", faultnet.Script{asked, faultnet.Send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" +
			"<html><head><title>Index of /x/</title></head><body><h1>Index of /x/</h1><pre><a href=\"a\">a</a>\n"), faultnet.Stall()}, []string{"ls", "URL/"}, false},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(fmt.Sprintf("%s, %s", c.name, sig), func(t *testing.T) {
				s := faultnet.Listen(t, c.script)
				dir := open(t)
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
				if names := names(t, dir); c.kept && names != ".out.part .out.part.state" || !c.kept && names != "" {
					t.Errorf("%v: left %q", e, names)
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
				if again.code != 0 || len(content(t, filepath.Join(dir, "out"))) != 1_000_000 || !strings.Contains(again.said, "Range: bytes=300000-") {
					t.Errorf("the next attempt: %v", again)
				}
			})
		}
	}
	t.Run("a pipe that nobody reads", func(t *testing.T) {
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
	t.Run("a FIFO that nobody reads", func(t *testing.T) {
		s := serve(t)
		pipe := filepath.Join(open(t), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		l.interrupt(t, exec.Command(l.fetch, "-q", "-o", pipe, s.URL+"/5"), syscall.SIGTERM, "", 0)
		if n := s.requests.Load(); n > 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// interrupt signals a process once it waits, and its part has so many bytes,
// and wants it to end by that. The signal comes more than once, as from timeout(1).
func (l *lab) interrupt(t *testing.T, c *exec.Cmd, sig syscall.Signal, part string, size int) ended {
	t.Helper()
	p := start(t, c)
	p.waits(t, func() bool { return size == 0 || len(content(t, part)) == size })
	began := time.Now()
	for n := 0; n < 3 && time.Since(began) < 20*time.Millisecond; n++ { // later it would be another one
		p.Process.Signal(sig)
		for p.pending() { // else the next one is one with it
		}
	}
	e := p.wait(t)
	const most = 5 * time.Second // on a busy machine; on an idle one it is grace, of a second
	if took := time.Since(began); e.code != 128+int(sig) || took > most {
		t.Errorf("%v, %v after the signal, want exit %d within %v", e, took, 128+int(sig), most)
	}
	return e
}

// pending reports whether a signal has not been delivered yet to a process that
// has not ended.
func (p *process) pending() bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	ended := err != nil || bytes.Contains(status, []byte("State:\tZ"))
	return !ended && !bytes.Contains(status, []byte("ShdPnd:\t0000000000000000"))
}

// waits returns once the process has done nothing for a while, and is ready.
func (p *process) waits(t *testing.T, ready func() bool) {
	t.Helper()
	const look, while = 10 * time.Millisecond, 10
	last, still := "", 0
	for end := time.Now().Add(patience); (still < while || !ready()) && time.Now().Before(end); time.Sleep(look) {
		does := content(t, fmt.Sprintf("/proc/%d/io", p.Process.Pid)) + threads(p.Process.Pid)
		if still++; does != last {
			last, still = does, 0
		}
	}
}

// threads says what the threads of a process wait for.
func threads(pid int) (all string) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	for _, path := range paths {
		where, _ := os.ReadFile(path)
		all += string(where) + " "
	}
	return all
}
