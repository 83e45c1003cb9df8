package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// TestScript runs the scripts in testdata/script. Each script has an nginx
// server. $NGINX is the host and port of the server.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			s := peer.Nginx(env.T().(peer.TB), peer.NginxOptions{Server: nginxRules})
			s.Put("hello.txt", []byte("hello\n"))
			s.Put("big", commandtest.RandomBytes(3_000_000))
			s.Put("dir/a file", []byte("x"))
			s.Put("links.html", []byte("<a href=hello.txt><a href=big><a href=dir/a%20file>"))
			env.Setenv("NGINX", s.Addr)
			env.Setenv("ROOT", s.Root)
			env.Setenv("PORT", s.Addr[strings.LastIndexByte(s.Addr, ':')+1:])
			env.Setenv("LF", "\r\n")
			env.Setenv("DEAD", commandtest.ClosedPort(env.T().(peer.TB)))
			env.Values["test"] = env.T()
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"postgres": startPostgres,
			"signal":   signalFetch,
			"size":     size,
			"truncate": truncate,
		},
	})
}

const nginxRules = `
	location /moved { return 302 /hello.txt; }
	location /toecho { return 302 /echo?from=$http_referer; }
	location /attached { add_header Content-Disposition 'attachment; filename="$arg_name[1] {x} & .txt"'; return 200 "x"; }
	location /tospace { return 302 "/dir/a%20file"; }
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
	location /whole { max_ranges 0; try_files /hello.txt =404; }
	location /empty204 { return 204; }
	location /undated { if_modified_since off; try_files /hello.txt =404; }
	location /asks { if ($http_authorization = "") { add_header WWW-Authenticate 'Basic realm="x"' always; return 401; } return 200 "in\n"; }
	location /slow { limit_rate 500k; try_files /big =404; }
`

// exits is the script command "exits CODE COMMAND [ARG...]". It runs a command
// and checks the exit code.
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

// startPostgres is the script command "postgres". It starts a database server and sets
// $POSTGRES to the URL of an empty schema.
func startPostgres(ts *testscript.TestScript, neg bool, args []string) {
	s := peer.Postgres(ts.Value("test").(peer.TB), false)
	ts.Setenv("POSTGRES", "postgres://postgres@"+s.Addr+"/postgres?search_path=crawl")
}

// signalFetch is the script command "signal SIGNAL CODE FILE COMMAND [ARG...]".
// It starts a command, sends a signal when FILE has 100,000 bytes, and checks
// the exit code.
func signalFetch(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // otherwise the command would inherit an ignored SIGHUP, as under nohup(1)
	defer signal.Stop(hangup)
	file := ts.MkAbs(args[2])
	c := fetchProcess(args[3:]...)
	c.Dir = ts.Getenv("WORK")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	ts.Check(c.Start())
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	deadline := time.After(commandtest.WaitTimeout)
	for waiting := true; waiting; {
		select {
		case <-deadline:
			c.Process.Kill()
			ts.Fatalf("%s is too small: %s", file, &stderr)
		case err := <-done:
			ts.Fatalf("the command ended before the signal: %v: %s", err, &stderr)
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
	const maxDuration = 30 * time.Second // less than each other limit of the command, which is a minute or more
	if got != want || time.Since(start) > maxDuration {
		ts.Fatalf("exit code %d after %v, want %d: %s", got, time.Since(start), want, &stderr)
	}
}

// size is the script command "size FILE N". It checks the size of a file.
func size(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatInt(info.Size(), 10); (got == args[1]) == neg {
		ts.Fatalf("%s has %s bytes", args[0], got)
	}
}

// truncate is the script command "truncate FILE N". It truncates a file to N
// bytes.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// TestClosedPipe checks that SIGPIPE ends fetch without a message when the
// reader of standard output closes the pipe.
func TestClosedPipe(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{})
	s.Put("big", commandtest.RandomBytes(3_000_000))
	c := fetchProcess("fetch", "http://"+s.Addr+"/big")
	var stderr bytes.Buffer
	c.Stderr = &stderr
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
	if !(status.Signaled() && status.Signal() == syscall.SIGPIPE || status.ExitStatus() == 141) || stderr.Len() > 0 {
		t.Errorf("got %v (%v) and message %q, want SIGPIPE", status, err, strings.TrimSpace(stderr.String()))
	}
}
