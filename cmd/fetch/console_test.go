//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/peer"
)

// A seat is a terminal of 80 columns and 24 rows with a shell on it, by tmux.
type seat struct {
	t         *testing.T
	tmux, dir string
}

func newSeat(t *testing.T) *seat {
	t.Helper()
	s := &seat{t, peer.Need(t, "tmux", "tmux"), open(t)}
	s.run("new-session", "-d", "-x", "80", "-y", "24", "-c", s.dir, "env", "PS1=ready> ", "sh")
	t.Cleanup(func() { s.run("kill-server") })
	s.run("set", "-g", "status", "off")
	s.run("resize-window", "-x", "80", "-y", "24")
	return s
}

func (s *seat) run(args ...string) string {
	s.t.Helper()
	out, err := exec.Command(s.tmux, append([]string{"-f", "/dev/null", "-S", filepath.Join(s.dir, "tmux")}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys presses keys by their names: "C-]", "Enter".
func (s *seat) keys(names ...string) {
	s.t.Helper()
	s.run(append([]string{"send-keys"}, names...)...)
}

// line types text and presses Enter.
func (s *seat) line(text string) {
	s.t.Helper()
	s.run("send-keys", "-l", text)
	s.keys("Enter")
}

// until waits for the screen to show text.
func (s *seat) until(text string) {
	s.t.Helper()
	s.eventually(func() bool { return strings.Contains(s.run("capture-pane", "-p", "-J"), text) },
		func() string { return fmt.Sprintf("no %q on\n%s", text, s.run("capture-pane", "-p")) })
}

func (s *seat) eventually(ok func() bool, otherwise func() string) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(15 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatal(otherwise())
		}
	}
}

// asks types a line until the screen shows text.
func (s *seat) asks(line, text string) {
	s.t.Helper()
	s.eventually(func() bool {
		s.line(line)
		return strings.Contains(s.run("capture-pane", "-p", "-J"), text)
	}, func() string { return fmt.Sprintf("no %q on\n%s", text, s.run("capture-pane", "-p")) })
}

// fetch begins a command whose exit code will be shown.
func (s *seat) fetch(command string) {
	s.t.Helper()
	s.line("stty -g >before; " + command + "; echo exit=$?; stty -g >after")
}

// ends waits for the exit code. The terminal must be as it was.
func (s *seat) ends(code int) {
	s.t.Helper()
	s.until(fmt.Sprintf("exit=%d\n", code))
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(s.dir, name))
		return string(text)
	}
	s.eventually(func() bool { return read("after") != "" }, func() string { return "no state of the terminal" })
	if read("before") != read("after") {
		s.t.Errorf("the terminal was\n%sand is\n%s", read("before"), read("after"))
	}
}

// signal sends one to the only child of the shell.
func (s *seat) signal(sig syscall.Signal) {
	s.t.Helper()
	shell := strings.TrimSpace(s.run("display-message", "-p", "#{pane_pid}"))
	children, err := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err == nil {
		err = syscall.Kill(pid, sig)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestConsole is a person at a terminal.
func TestConsole(t *testing.T) {
	fetch := build(t, ".", "fetch") + " --no-config "
	t.Run("telnetd", func(t *testing.T) {
		t.Parallel()
		d := peer.Telnetd(t, peer.TelnetdOptions{Script: `echo "on $TERM"; while read -r line; do echo "heard $line, $(stty size)"; done`})
		s := newSeat(t)
		_, port, _ := strings.Cut(d.Addr, ":")
		s.fetch(fetch + "--terminal VT100 telnet://bob:s3cret@" + d.Addr + "/")
		for _, text := range []string{"telnet session with 127.0.0.1, port " + port, "log in as bob", "the URL contains a password, which is not sent", "Control-] leaves", "on vt100"} {
			s.until(text)
		}
		s.asks("one", "heard one, 24 80")
		s.run("resize-window", "-x", "100", "-y", "30")
		s.asks("two", "heard two, 30 100")
		s.run("send-keys", "-l", "thre")
		s.keys("BSpace")
		s.line("ow") // the peer edits
		s.until("heard throw, 30 100")
		s.keys("C-]")
		s.ends(0)
	})
	t.Run("telnetd closes", func(t *testing.T) {
		t.Parallel()
		d := peer.Telnetd(t, peer.TelnetdOptions{Script: `read -r line; echo "bye $line"; read -r line`})
		s := newSeat(t)
		s.fetch(fetch + "telnet://" + d.Addr)
		s.until("leaves")
		s.line("one")
		s.until("bye one") // telnetd may lose what a shell says that ends at once
		s.line("")
		s.ends(0)
	})
	t.Run("rlogind", func(t *testing.T) {
		t.Parallel()
		d := peer.Rlogind(t)
		s := newSeat(t)
		s.fetch(fetch + "rlogin://" + peer.User + "@" + d.Addr)
		for _, text := range []string{"rlogin session with 127.0.0.1", "log in as " + peer.User, "Control-] leaves", "assword:"} {
			s.until(text)
		}
		s.line(peer.Password)
		s.until("$ ")
		s.asks("stty size", "24 80\n")
		s.run("resize-window", "-x", "100", "-y", "30")
		s.asks("stty size", "30 100\n")
		s.line("exit")
		s.ends(0)
	})
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 2}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			d := peer.Telnetd(t, peer.TelnetdOptions{})
			s := newSeat(t)
			s.fetch(fetch + "telnet://" + d.Addr + " 2>said")
			s.line("one")
			s.until("you said one")
			s.signal(c.signal)
			s.ends(c.code)
		})
	}
}

// TestConsolePassword: who thinks better of it gets the terminal back.
func TestConsolePassword(t *testing.T) {
	fetch := build(t, ".", "fetch") + " --no-config "
	for _, c := range []struct {
		name, command, key string
		code               int
	}{
		{"-u", fetch + "-u bob http://127.0.0.1:1/", "C-c", 130},
		{"typed", fetch + "--retry 0 -u bob http://127.0.0.1:1/", "Enter", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSeat(t)
			s.fetch(c.command)
			s.until("Password for bob:")
			s.keys(c.key)
			s.ends(c.code)
		})
	}
}

// TestConsoleLines is a person at a service that negotiates nothing, or no
// more than who shows what is typed.
func TestConsoleLines(t *testing.T) {
	fetch := build(t, ".", "fetch") + " --no-config telnet://"
	serve := func(t *testing.T, steps ...faultnet.Step) (*faultnet.Server, string) {
		f := faultnet.Listen(t, faultnet.Script(steps))
		return f, f.Addr().String()
	}
	t.Run("lines", func(t *testing.T) {
		t.Parallel()
		f, addr := serve(t, faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Send("hello\r\n"), faultnet.Stall())
		s := newSeat(t)
		s.fetch(fetch + addr)
		s.until("name? ")
		s.run("send-keys", "-l", "adaX")
		s.until("name? adaX") // the terminal shows it
		s.keys("BSpace", "Enter")
		s.until("hello")
		s.keys("C-]")
		s.ends(0)
		if got := string(f.Conns()[0].All()); got != "ada\r\n" {
			t.Errorf("sent %q", got)
		}
	})
	t.Run("password", func(t *testing.T) {
		t.Parallel()
		f, addr := serve(t, faultnet.Send("\xff\xfb\x01password? "), faultnet.Expect("\n"), faultnet.Send("\xff\xfc\x01\r\nwelcome, name? "), faultnet.Expect("ada\r\n"))
		s := newSeat(t)
		s.fetch(fetch + addr)
		s.until("password?")
		s.line("s3cret")
		s.until("welcome")
		s.line("ada")
		s.until("name? ada")
		s.ends(0)
		if got := string(f.Conns()[0].All()); got != "\xff\xfd\x01s3cret\r\n\xff\xfe\x01ada\r\n" {
			t.Errorf("sent %q", got)
		}
		if screen := s.run("capture-pane", "-p"); strings.Contains(screen, "s3cret") {
			t.Errorf("shown:\n%s", screen)
		}
	})
	for key, code := range map[string]int{"C-c": 130, "C-d": 0} { // an interrupt, the end of a file
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			_, addr := serve(t, faultnet.Send("name? "), faultnet.Stall())
			s := newSeat(t)
			s.fetch(fetch + addr)
			s.until("name? ")
			s.keys(key)
			s.ends(code)
		})
	}
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		_, addr := serve(t, faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Reset())
		s := newSeat(t)
		s.fetch(fetch + addr)
		s.until("name? ")
		s.line("ada")
		s.ends(4)
	})
	t.Run("only seen", func(t *testing.T) { // from a pipe: nobody's command over the terminal
		t.Parallel()
		_, addr := serve(t, faultnet.Send("\x1b[31mred\x1b]0;title\x07"), faultnet.Expect("\n"))
		s := newSeat(t)
		s.fetch("echo | " + fetch + addr)
		s.until(`\x1b[31mred\x1b]0;title\x07`)
		s.ends(0)
	})
	t.Run("suspended", func(t *testing.T) {
		t.Parallel()
		f, addr := serve(t, faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Stall())
		s := newSeat(t)
		s.line("set -m")
		s.fetch(fetch + addr)
		s.until("name? ")
		s.keys("C-z")
		s.until("exit=148\n")
		s.line("fg")
		s.line("ada")
		s.eventually(func() bool { return string(f.Conns()[0].Sent()) == "ada\r\n" }, func() string {
			return fmt.Sprintf("sent %q\n%s", f.Conns()[0].Sent(), s.run("capture-pane", "-p"))
		})
		s.keys("C-]")
		s.line("echo fg=$?")
		s.until("fg=0\n")
	})
}
