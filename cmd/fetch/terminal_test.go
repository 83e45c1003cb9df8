//go:build linux

package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"golang.org/x/sys/unix"
)

// hostileLine is a line with control characters: CSI as one byte, CSI in UTF-8
// and a right-to-left override.
const hostileLine = "a\x9b31m\u009b32m\u202eb"

// TestTerminal checks that control characters from a server are escaped on a
// terminal, and that other outputs receive them unchanged.
func TestTerminal(t *testing.T) {
	fetch := commandtest.Fetch(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		body := "\x1b[31mred\u202e\xe2\r\r\nlast \xe2"
		if strings.HasSuffix(r.URL.Path, "/") {
			body = `<title>Index of /</title><pre><a href="%1B%C2%9B%E2%80%AEx">` + body + `</a>`
		}
		fmt.Fprintf(c, "HTTP/1.1 200 %[1]s\r\nContent-Type: text/html\r\nX-Said: %[1]s\r\nETag: %[1]s\r\nSet-Cookie: a=%[1]s\r\nContent-Length: %[2]d\r\n\r\n%[3]s", hostileLine, len(body), body)
	}))
	defer s.Close()
	archive := hostileArchive(t)
	for _, c := range []struct{ name, args, message string }{
		{"body", "$U/x", `\x1b[31mred\u{202e}\xe2\x0d` + "\r\n" + `last \xe2`},
		{"header and body", "-i $U/x", `X-Said: a\x9b31m\u{9b}32m\u{202e}b`},
		{"header", "-I $U/x", `X-Said: a\x9b31m\u{9b}32m\u{202e}b`},
		{"header to standard output", "-D - -o /dev/null $U/x", `X-Said: a\x9b31m\u{9b}32m\u{202e}b`},
		{"verbose messages", "-v $U/x", `< X-Said: a\x9b31m\u{9b}32m\u{202e}b`},
		{"variables", "-o /dev/null -w %header{x-said} $U/x", `a\x9b31m\u{9b}32m\u{202e}b`},
		{"variables to standard error", "-o /dev/null -w %{stderr}%header{x-said} $U/x", `a\x9b31m\u{9b}32m\u{202e}b`},
		{"variables to the terminal by file name", "-o /dev/null -w '%output{/dev/stdout}%header{x-said}' $U/x", `a\x9b31m\u{9b}32m\u{202e}b`},
		{"parallel bodies", "-Z $U/x $U/x", `\x1b[31mred`},
		{"information about a URL", "info $U/x", `"X-Said":["a\ufffd31m\u009b32m\u202eb"]`},
		{"listing", "$U/", `\x1b\u{9b}\u{202e}x`},
		{"listing by ls", "ls $U/", `\x1b\u{9b}\u{202e}x`},
		{"listing in JSON", "ls --json $U/", `"name":"\u001b\u009b\u202ex"`},
		{"URLs of a listing", "ls --urls $U/", "/%1B%C2%9B%E2%80%AEx"},
		{"native listing", "ls --native $U/", `\x1b[31mred\u{202e}`},
		{"body to the terminal by file name", "-o /dev/stdout $U/x",
			`\x1b[31mred\u{202e}\xe2\x0d` + "\r\n" + `last \xe2`},
		{"header to the terminal by file name", "-D /dev/stderr -o /dev/null $U/x",
			`X-Said: a\x9b31m\u{9b}32m\u{202e}b`},
		{"entity tag to the terminal by file name", "--etag-save /dev/stdout -o /dev/null $U/x",
			`a\x9b31m\u{9b}32m\u{202e}b`},
		{"cookies to standard output", "-c - -o /dev/null $U/x", `a\x9b31m\u{9b}32m\u{202e}b`},
		{"cookies to the terminal by file name", "-c /dev/stdout -o /dev/null $U/x", `a\x9b31m\u{9b}32m\u{202e}b`},
		{"index of a WARC file", "index $D/hostile.warc", `\u001b[31m\u{9b}32m\u{202e}b`},
		{"objects of a WARC file", "ls $D/hostile.warc", `\x1b[31m`},
		{"manifest", "pack --manifest $D", `tree/a\x1b[31m`},
		{"batch requests about URIs", "uri --batch <$D/batch", `{"id":"\u009b31m","result":true}`},
		{"body to a pipe", "$U/x | cat -v", `^[[31mredM-bM-^@M-.M-b^M^M`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if strings.Contains(args, "$U") { // a slow server causes a progress line
				args = "--no-progress-meter " + args
			}
			shell := exec.Command("/bin/sh", "-c", `"$F" -q `+args)
			shell.Env = append(os.Environ(), "F="+fetch, "U="+s.URL, "D="+archive, "TERM=xterm")
			got := onTerminal(t, shell)
			if !strings.Contains(got, c.message) ||
				strings.ContainsFunc(strings.ReplaceAll(got, "\r\n", "\n"), func(r rune) bool {
					return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f
				}) {
				t.Errorf("got %q, want %q and no control characters", got, c.message)
			}
		})
	}
}

// hostileArchive returns a folder of archive files whose names and URLs contain
// control sequences.
func hostileArchive(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const block = "HTTP/1.1 200 OK\r\nContent-Type: text/\x1b[31m\r\n\r\n"
	for name, text := range map[string]string{
		"hostile.warc": fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"+
			"WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: http://h/\x1b[31m\u009b32m\u202eb\r\n"+
			"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block),
			block),
		"tree/a\x1b[31m\u009b\u202e": "x",
		"fetch.db":                   "",
		"batch":                      `{"id":"` + "\u009b31m" + `","kind":"valid","production":"URI","input":"a:b"}`,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestForm checks that fetch prompts the user for a secret field of a form,
// even if FETCH_PASSWORD is set.
func TestForm(t *testing.T) {
	fetch := commandtest.Fetch(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for _, answer := range []string{"+-2\r\n+INFO: 0a\t/a\th\t70\t?\r\n+ASK:\r\n AskP: Key\x1b[2J\r\n",
			"+-2\r\nyou said "} {
			c, err := l.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 100)
			n, _ := c.Read(request)
			io.WriteString(c, answer)
			if strings.Contains(answer, "said") {
				fmt.Fprintf(c, "%q", request[:n])
			}
			c.Close()
		}
	}()
	shell := exec.Command("/bin/sh", "-c", `"$F" -q "$U" <&2`)
	shell.Env = append(os.Environ(), "F="+fetch, "U=gopher://"+l.Addr().String()+"/0/a%09%09?", "FETCH_PASSWORD=s3cret")
	got := onTerminal(t, shell, "typed\n")
	if want := `you said "/a\t+\t1\r\n+-1\r\ntyped\r\n.\r\n"`; !strings.Contains(got, want) ||
		!strings.Contains(got, `Key\x1b[2J: `) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// onTerminal runs a command on a new terminal with the given input, and returns
// the output.
func onTerminal(t *testing.T, c *exec.Cmd, typed ...string) string {
	t.Helper()
	primary, secondary := openTerminal(t)
	defer primary.Close()
	for _, line := range typed {
		if _, err := io.WriteString(primary, line); err != nil {
			t.Fatal(err)
		}
	}
	c.Stdout, c.Stderr = secondary, secondary
	err := c.Start()
	secondary.Close()
	if err != nil {
		t.Fatal(err)
	}
	all, _ := io.ReadAll(primary) // returns EIO when all other files of the terminal are closed
	if err := c.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	return string(all)
}

// openTerminal returns both sides of a new pseudo-terminal.
func openTerminal(t *testing.T) (primary, secondary *os.File) {
	t.Helper()
	primary, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("the system has no pseudo-terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(primary.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(primary.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	secondary, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return primary, secondary
}
