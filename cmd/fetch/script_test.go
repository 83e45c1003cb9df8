package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/peer"
	"github.com/rogpeppe/go-internal/testscript"
)

// AfterTests, unless nil, runs when all tests have ended.
var AfterTests func()

// tests runs all tests, and then AfterTests.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	if AfterTests != nil {
		AfterTests()
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"fetch": main})
}

// TestScript runs testdata/script. Each script has an nginx of its own:
// $NGINX is its host:port, big (3 MB) and hello.txt are there.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			s := peer.Nginx(env.T().(peer.TB), peer.NginxOptions{Server: nginxRules})
			s.Put("hello.txt", []byte("hello\n"))
			s.Put("big", noise(3_000_000))
			s.Put("dir/a file", []byte("x"))
			s.Put("links.html", []byte("<a href=hello.txt><a href=big><a href=dir/a%20file>"))
			env.Setenv("NGINX", s.Addr)
			env.Setenv("ROOT", s.Root)
			env.Setenv("PORT", s.Addr[strings.LastIndexByte(s.Addr, ':')+1:])
			env.Setenv("LF", "\r\n")
			env.Setenv("DEAD", closedPort(env.T().(peer.TB)))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"signal":   killed,
			"size":     size,
			"truncate": truncate,
		},
	})
}

const nginxRules = `
	location /moved { return 302 /hello.txt; }
	location /loop { return 302 /loop; }
	location /tofile { return 302 file:///etc/passwd; }
	location /toredis { return 302 http://127.0.0.1:6379/; }
	location /tosmtp { return 302 http://127.0.0.1:25/; }
	location /busy { return 503 "busy page\n"; }
	location /page404 { return 404 "no such page\n"; }
	location /tob { return 302 http://b.example:$server_port/auth; }
	location /auth { return 200 "auth=$http_authorization \n"; }
	location /echo { return 200 "$args referer=$http_referer\n"; }
	location /nothing { return 416 "no\n"; }
	location /unitless { add_header Content-Range "*/6" always; return 416 "no\n"; }
	location /emptypart { add_header Content-Range "bytes 6-5/6" always; return 206 ""; }
	location /nohead { if ($request_method = HEAD) { return 405; } return 200 "hello\n"; }
	location /slow { limit_rate 500k; try_files /big =404; }
`

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// closedPort is an address where nobody listens.
func closedPort(t peer.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// exits CODE COMMAND... runs a command that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			got = 128 + int(status.Signal())
		}
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// killed SIGNAL CODE FILE COMMAND... sends the signal when FILE has some
// bytes, and wants the exit code.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	file := ts.MkAbs(args[2])
	c := command(args[3:]...)
	c.Dir = ts.Getenv("WORK")
	var said bytes.Buffer
	c.Stderr = &said
	ts.Check(c.Start())
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	deadline := time.After(10 * time.Second)
	for waiting := true; waiting; {
		select {
		case <-deadline:
			c.Process.Kill()
			ts.Fatalf("%s got no bytes: %s", file, &said)
		case err := <-done:
			ts.Fatalf("ended before the signal: %v: %s", err, &said)
		case <-time.After(5 * time.Millisecond):
			info, err := os.Stat(file)
			waiting = err != nil || info.Size() < 100_000
		}
	}
	ts.Check(c.Process.Signal(signals[args[0]]))
	start := time.Now()
	<-done
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	got := status.ExitStatus()
	if status.Signaled() {
		got = 128 + int(status.Signal())
	}
	if got != want || time.Since(start) > 2*time.Second {
		ts.Fatalf("exit code %d after %v, want %d: %s", got, time.Since(start), want, &said)
	}
}

// command is this test binary called as fetch.
func command(args ...string) *exec.Cmd {
	return &exec.Cmd{Path: "/proc/self/exe", Args: args}
}

// size FILE N wants a file of N bytes.
func size(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatInt(info.Size(), 10); (got == args[1]) == neg {
		ts.Fatalf("%s has %s bytes", args[0], got)
	}
}

// truncate FILE N.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// TestClosedPipe: a reader of standard output that leaves ends the command
// without a word, as it ends every tool of a pipeline.
func TestClosedPipe(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{})
	s.Put("big", noise(3_000_000))
	c := command("fetch", "http://"+s.Addr+"/big")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	err = c.Wait()
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	if !(status.Signaled() && status.Signal() == syscall.SIGPIPE || status.ExitStatus() == 141) || said.Len() > 0 {
		t.Errorf("ended by %v (%v), saying %q", status, err, strings.TrimSpace(said.String()))
	}
}
