//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
)

// A tmuxSession is a terminal of 80 columns and 24 rows that runs a shell.
type tmuxSession struct {
	t         *testing.T
	tmux, dir string
}

func newTmuxSession(t *testing.T) *tmuxSession {
	t.Helper()
	s := &tmuxSession{t, peer.Need(t, "tmux", "tmux"), commandtest.Folder(t)}
	s.run("new-session", "-d", "-x", "80", "-y", "24", "-c", s.dir, "env", "PS1=ready> ", "sh")
	t.Cleanup(func() { s.run("kill-server") })
	s.run("set", "-g", "status", "off")
	s.run("resize-window", "-x", "80", "-y", "24")
	s.waitForText("ready>") // text that is typed earlier would appear before the prompt
	return s
}

func (s *tmuxSession) run(args ...string) string {
	s.t.Helper()
	out, err := exec.Command(s.tmux, append([]string{"-f", "/dev/null", "-S", filepath.Join(s.dir, "tmux")},
		args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// press presses the keys with the given names, such as "C-]" and "Enter".
func (s *tmuxSession) press(names ...string) {
	s.t.Helper()
	s.run(append([]string{"send-keys"}, names...)...)
}

// typeLine types text and presses Enter.
func (s *tmuxSession) typeLine(text string) {
	s.t.Helper()
	s.run("send-keys", "-l", text)
	s.press("Enter")
}

// waitForText waits until the screen shows text.
func (s *tmuxSession) waitForText(text string) {
	s.t.Helper()
	s.waitFor(func() bool { return strings.Contains(s.run("capture-pane", "-p", "-J"), text) },
		func() string { return fmt.Sprintf("no %q in\n%s", text, s.run("capture-pane", "-p")) })
}

func (s *tmuxSession) waitFor(ok func() bool, otherwise func() string) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(commandtest.WaitTimeout); !ok(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatal(otherwise())
		}
	}
}

// repeatLine types a line repeatedly until the screen shows text.
func (s *tmuxSession) repeatLine(line, text string) {
	s.t.Helper()
	s.waitFor(func() bool {
		s.typeLine(line)
		return strings.Contains(s.run("capture-pane", "-p", "-J"), text)
	}, func() string { return fmt.Sprintf("no %q on\n%s", text, s.run("capture-pane", "-p")) })
}

// start starts a command in the shell. The shell prints the exit code of the
// command.
func (s *tmuxSession) start(command string) {
	s.t.Helper()
	s.typeLine("stty -g >before; " + command + "; echo exit=$?; stty -g >after")
}

// waitForExit waits for the exit code and checks that the mode of the terminal
// is restored.
func (s *tmuxSession) waitForExit(code int) {
	s.t.Helper()
	s.waitForText(fmt.Sprintf("exit=%d\n", code))
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(s.dir, name))
		return string(text)
	}
	s.waitFor(func() bool { return read("after") != "" }, func() string { return "no terminal mode" })
	if read("before") != read("after") {
		s.t.Errorf("the terminal mode changed from\n%sto\n%s", read("before"), read("after"))
	}
}

// signal sends a signal to the child of the shell.
func (s *tmuxSession) signal(sig syscall.Signal) {
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

// TestConsole uses interactive sessions at a terminal.
func TestConsole(t *testing.T) {
	fetch := commandtest.Fetch(t) + " --no-config "
	t.Run("telnetd", func(t *testing.T) {
		t.Parallel()
		d := peer.Telnetd(t, peer.TelnetdOptions{
			Script: `echo "on $TERM"; while read -r line; do echo "heard $line, $(stty size)"; done`})
		s := newTmuxSession(t)
		_, port, _ := strings.Cut(d.Addr, ":")
		s.start(fetch + "--terminal VT100 telnet://bob:s3cret@" + d.Addr + "/")
		for _, text := range []string{"telnet session with 127.0.0.1, port " + port, "log in as bob",
			"the URL contains a password, which is not sent", "Control-] leaves", "on vt100"} {
			s.waitForText(text)
		}
		s.repeatLine("one", "heard one, 24 80")
		s.run("resize-window", "-x", "100", "-y", "30")
		s.repeatLine("two", "heard two, 30 100")
		s.run("send-keys", "-l", "thre")
		s.press("BSpace")
		s.typeLine("ow") // the server edits the line
		s.waitForText("heard throw, 30 100")
		s.press("C-]")
		s.waitForExit(0)
	})
	t.Run("telnetd closes", func(t *testing.T) {
		t.Parallel()
		d := peer.Telnetd(t, peer.TelnetdOptions{Script: `read -r line; echo "bye $line"; read -r line`})
		s := newTmuxSession(t)
		s.start(fetch + "telnet://" + d.Addr)
		s.waitForText("leaves")
		s.typeLine("one")
		s.waitForText("bye one") // telnetd may lose output if the shell ends at once
		s.typeLine("")
		s.waitForExit(0)
	})
	t.Run("rlogind", func(t *testing.T) {
		t.Parallel()
		d := peer.Rlogind(t)
		s := newTmuxSession(t)
		s.start(fetch + "rlogin://" + peer.User + "@" + d.Addr)
		for _, text := range []string{"rlogin session with 127.0.0.1", "log in as " + peer.User,
			"Control-] leaves", "assword:"} {
			s.waitForText(text)
		}
		s.typeLine(peer.Password)
		s.waitForText("$ ")
		s.repeatLine("stty size", "24 80\n")
		s.run("resize-window", "-x", "100", "-y", "30")
		s.repeatLine("stty size", "30 100\n")
		s.typeLine("exit")
		s.waitForExit(0)
	})
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 2}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			d := peer.Telnetd(t, peer.TelnetdOptions{})
			s := newTmuxSession(t)
			s.start(fetch + "telnet://" + d.Addr + " 2>stderr")
			s.typeLine("one")
			s.waitForText("you said one")
			s.signal(c.signal)
			s.waitForExit(c.code)
		})
	}
}

// TestConsolePassword checks that the terminal mode is restored after a
// password prompt, whether the user types a password or interrupts the prompt.
func TestConsolePassword(t *testing.T) {
	fetch := commandtest.Fetch(t) + " --no-config "
	for _, c := range []struct {
		name, command, key string
		code               int
	}{
		{"interrupted prompt", fetch + "-u bob http://127.0.0.1:1/", "C-c", 130},
		{"empty password", fetch + "--retry 0 -u bob http://127.0.0.1:1/", "Enter", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newTmuxSession(t)
			s.start(c.command)
			s.waitForText("Password for bob:")
			s.press(c.key)
			s.waitForExit(c.code)
		})
	}
}

// TestConsoleLines uses services that negotiate no options, or only the echo
// option.
func TestConsoleLines(t *testing.T) {
	if testing.Short() {
		t.Skip("starts terminals")
	}
	fetch := commandtest.Fetch(t) + " --no-config telnet://"
	serve := func(t *testing.T, steps ...faultnet.Step) (*faultnet.Server, string) {
		f := faultnet.Listen(t, faultnet.Script(steps))
		return f, f.Addr().String()
	}
	t.Run("line mode", func(t *testing.T) {
		t.Parallel()
		f, addr := serve(t, faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Send("hello\r\n"),
			faultnet.Stall())
		s := newTmuxSession(t)
		s.start(fetch + addr)
		s.waitForText("name? ")
		s.run("send-keys", "-l", "adaX")
		s.waitForText("name? adaX") // echoed by the terminal
		s.press("BSpace", "Enter")
		s.waitForText("hello")
		s.press("C-]")
		s.waitForExit(0)
		if got := string(f.Conns()[0].All()); got != "ada\r\n" {
			t.Errorf("fetch sent %q", got)
		}
	})
	t.Run("password", func(t *testing.T) {
		t.Parallel()
		f, addr := serve(t, faultnet.Send("\xff\xfb\x01password? "), faultnet.Expect("\n"),
			faultnet.Send("\xff\xfc\x01\r\nwelcome, name? "), faultnet.Expect("ada\r\n"))
		s := newTmuxSession(t)
		s.start(fetch + addr)
		s.waitForText("password?")
		s.typeLine("s3cret")
		s.waitForText("welcome")
		s.typeLine("ada")
		s.waitForText("name? ada")
		s.waitForExit(0)
		if got := string(f.Conns()[0].All()); got != "\xff\xfd\x01s3cret\r\n\xff\xfe\x01ada\r\n" {
			t.Errorf("fetch sent %q", got)
		}
		if screen := s.run("capture-pane", "-p"); strings.Contains(screen, "s3cret") {
			t.Errorf("the screen shows the password:\n%s", screen)
		}
	})
	for key, code := range map[string]int{"C-c": 130, "C-d": 0} { // interrupt and end of file
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			_, addr := serve(t, faultnet.Send("name? "), faultnet.Stall())
			s := newTmuxSession(t)
			s.start(fetch + addr)
			s.waitForText("name? ")
			s.press(key)
			s.waitForExit(code)
		})
	}
	t.Run("connection reset", func(t *testing.T) {
		t.Parallel()
		_, addr := serve(t, faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Reset())
		s := newTmuxSession(t)
		s.start(fetch + addr)
		s.waitForText("name? ")
		s.typeLine("ada")
		s.waitForExit(4)
	})
	t.Run("input from a pipe", func(t *testing.T) { // control characters are escaped
		t.Parallel()
		_, addr := serve(t, faultnet.Send("\x1b[31mred\x1b]0;title\x07"), faultnet.Expect("\n"))
		s := newTmuxSession(t)
		s.start("echo | " + fetch + addr)
		s.waitForText(`\x1b[31mred\x1b]0;title\x07`)
		s.waitForExit(0)
	})
	t.Run("suspended process", func(t *testing.T) {
		t.Parallel()
		f, addr := serve(t, faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Stall())
		s := newTmuxSession(t)
		s.typeLine("set -m")
		s.start(fetch + addr)
		s.waitForText("name? ")
		s.press("C-z")
		s.waitForText("exit=148\n")
		s.typeLine("fg")
		s.typeLine("ada")
		s.waitFor(func() bool { return string(f.Conns()[0].Sent()) == "ada\r\n" }, func() string {
			return fmt.Sprintf("sent %q\n%s", f.Conns()[0].Sent(), s.run("capture-pane", "-p"))
		})
		s.press("C-]")
		s.typeLine("echo fg=$?")
		s.waitForText("fg=0\n")
	})
}

// TestConsoleLogin checks that the password of a URL with a user name is
// requested on the terminal, once for all URLs of the server. The prompt shows
// only the start of a long realm.
func TestConsoleLogin(t *testing.T) {
	fetch := commandtest.Fetch(t) + " --no-config "
	url, logins := protected(t)
	alice := strings.Replace(url, "http://", "http://alice@", 1)
	s := newTmuxSession(t)
	s.start(fetch + alice + "/ " + alice + "/again")
	s.waitForText("requires a login (" + strings.Repeat("private", 14) + "pr…)\n")
	s.typeLine("s3cret")
	s.waitForExit(0)
	if got := logins(); len(got) != 3 || slices.Contains(got, "alice:") {
		t.Errorf("the server got the logins %q", got)
	}
}
