//go:build linux

package faulttest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// measureMemory runs fetch and returns its peak memory in KiB.
func (l *lab) measureMemory(t *testing.T, args ...string) (commandtest.Result, int) {
	t.Helper()
	return l.measureActive(t, nil, args...)
}

// measureActive is measureMemory for bodies that take longer. The time limit starts
// again with each value of active.
func (l *lab) measureActive(t *testing.T, active <-chan struct{}, args ...string) (commandtest.Result, int) {
	t.Helper()
	peakFile := filepath.Join(commandtest.Folder(t), "peak")
	c := exec.Command(l.peak, append([]string{peakFile, l.fetch, "-q"}, args...)...)
	c.Stdout = io.Discard
	e := commandtest.Start(t, c).WaitActive(t, active)
	peak, err := strconv.Atoi(commandtest.Content(t, peakFile))
	if err != nil {
		t.Fatalf("%v: %v", err, e)
	}
	return e, peak
}

// memory checks that the memory of fetch does not depend on the size or the
// number of bodies.
func memory(t *testing.T, l *lab) {
	zeros := make([]byte, 1<<20)
	active := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if r.URL.RawQuery == "" {
			w.Header().Set("Content-Length", r.URL.Path[1:])
		}
		for ; n > 0; n -= int64(len(zeros)) {
			if _, err := w.Write(zeros[:min(n, int64(len(zeros)))]); err != nil {
				return
			}
			select {
			case active <- struct{}{}:
			default:
			}
		}
	}))
	defer s.Close()
	body := fmt.Sprintf("%s/%d", s.URL, l.body)
	list := strings.Fields(strings.Repeat(fmt.Sprintf(" %s/%d", s.URL, l.body/64), 64))
	for _, c := range []struct {
		name string
		args []string
	}{
		{"output to a device", []string{"-o", "/dev/null", body}},
		{"chunked body to standard output", []string{body + "?chunked"}},
		{"64 bodies in parallel", append([]string{"-Z"}, list...)},
	} {
		e, peak := l.measureActive(t, active, c.args...)
		t.Logf("%s: %d KiB in %v", c.name, peak, e.Duration)
		if e.Code != 0 || peak > commandtest.MaxMemory {
			t.Errorf("%s: %v, %d KiB, want at most %d", c.name, e, peak, commandtest.MaxMemory)
		}
	}
}

// endlessReplies checks that replies without an end fail and do not increase
// the memory of fetch.
func endlessReplies(t *testing.T, l *lab) {
	x := strings.Repeat("x", 64<<10)
	ok := "HTTP/1.1 200 OK\r\n"
	chunked := ok + "Transfer-Encoding: chunked\r\n\r\n"
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 1<<20))
	z.Close()
	for _, c := range []struct {
		name, scheme, first, again string
		flags                      string
		code                       int
	}{
		{"endless status line", "http", "HTTP/1.1 200 ", x, "", 10},
		{"bytes without status line", "http", "", x, "", 7},
		{"endless header field", "http", ok + "X: ", x, "", 10},
		{"endless field name", "http", ok, x, "", 10},
		{"endless header", "http", ok, "X: y\r\n", "", 10},
		{"endless folded field", "http", ok + "X: y\r\n", " y\r\n", "", 10},
		{"endless cookies", "http", ok, "Set-Cookie: a=b\r\n", "", 10},
		{"endless interim responses", "http", "", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", "", 7},
		{"endless header of an interim response", "http", "HTTP/1.1 103 Early Hints\r\n", "X: y\r\n", "", 10},
		{"endless chunk extension", "http", chunked + "1;", x, "", 7},
		{"endless chunk size", "http", chunked, "00000000", "", 7},
		{"chunks with long extensions", "http", chunked, "1;" + x[:1000] + "\r\nx\r\n", "", 7},
		{"endless trailer", "http", chunked + "1\r\nx\r\n0\r\n", "X: y\r\n", "", 10},
		{"endless trailer field", "http", chunked + "1\r\nx\r\n0\r\nX: ", x, "", 10},
		{"endless body", "http", ok + "\r\n", x, "--max-filesize 200000000", 10},
		{"endless error page", "http", "HTTP/1.1 404 No\r\n\r\n", x, "", 8},
		{"endless redirect page", "http", "HTTP/1.1 302 There\r\nLocation: /x\r\n\r\n", x, "", 10},
		{"endless challenge", "http", "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"", x, "", 10},
		{"endless compressed body", "http", ok + "Content-Encoding: gzip\r\n\r\n", bomb.String(), "--compressed", 10},
		{"endless file name in a gzip header", "http",
			ok + "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00", x, "--compressed", 10},
		{"endless HTTP/0.9 body", "http", "", x, "--http0.9 --max-filesize 200000000", 10},
		{"endless listing", "http", ok + "Content-Type: text/html\r\n\r\n<title>Index of /x/</title><h1>Index of /x/</h1><pre>", "<a href=\"a\">a</a>\n", "ls --max-filesize 20000000", 10},
		{"endless line of a listing", "http",
			ok + "Content-Type: text/html\r\n\r\n<title>Index of /x/</title><h1>Index of /x/</h1><pre><a href=\"",
			x, "ls --max-filesize 20000000", 10},
		{"endless greeting", "ftp", "220 ", x, "", 7},
		{"endless greeting of many lines", "ftp", "", "220-hello\r\n", "", 7},
		{"endless greeting", "nntp", "200 ", x, "", 7},
		{"endless greeting", "imap", "* OK ", x, "", 7},
		{"endless literal", "imap", "* OK {4000000000}\r\n", x, "", 7},
		{"endless greetings", "imap", "", "* OK hello\r\n", "", 7},
		{"endless menu", "gopher", "", "0a\t/a\thost.example\t70\r\n", "ls --max-filesize 20000000", 10},
		{"endless line of a menu", "gopher", "0", x, "ls --max-filesize 20000000", 7},
		{"endless reply", "wais", "", x, "", 7},
		{"endless message", "ldap", "\x30\x80", "\x04\x7f" + x[:127], "", 7},
		{"endless nesting", "ldap", "", "\x30\x80", "", 7},
		{"endless reply", "z39.50s", "\xb5\x80", "\x04\x7f" + x[:127], "", 7},
		{"endless record", "nfs", "", "\x00\x00\x04\x00" + x[:1024], "", 7},
	} {
		name := c.scheme + ", " + c.name
		before := faultnet.Do("wait", func(*faultnet.Conn) error { return nil })
		if c.scheme == "http" {
			before = faultnet.Expect("\r\n\r\n")
		}
		s := faultnet.Listen(t, faultnet.Script{before, faultnet.Send(c.first), endless(c.again)})
		url := c.scheme + "://" + s.Addr().String() + "/x/"
		switch c.scheme {
		case "gopher":
			url = strings.TrimSuffix(url, "x/") + "1"
		case "ldap":
			url = strings.TrimSuffix(url, "x/") + "dc=x"
		case "wais", "z39.50s":
			url = strings.TrimSuffix(url, "/") + "?y"
		}
		args := append(strings.Fields(c.flags), "--retry", "0", "--allow-port",
			c.scheme+":"+strconv.Itoa(int(s.Addr().Port())), url)
		if !strings.HasPrefix(c.flags, "ls ") {
			args = append(args, "-o", "/dev/null")
		}
		e, peak := l.measureMemory(t, args...)
		s.Close()
		t.Logf("%s: %d KiB in %v: exit code %d, %.200s", name, peak, e.Duration, e.Code, e.Stderr)
		if e.Code != c.code || peak > commandtest.MaxMemory {
			t.Errorf("%s: %v, %d KiB, want exit code %d and at most %d", name, e, peak, c.code, commandtest.MaxMemory)
		}
	}
}

// endless sends text repeatedly until the client closes the connection.
func endless(text string) faultnet.Step {
	text = strings.Repeat(text, max(1, 64<<10/len(text)))
	return faultnet.Do("send without end", func(c *faultnet.Conn) error {
		for {
			if _, err := io.WriteString(c, text); err != nil {
				return err
			}
		}
	})
}
