//go:build linux

package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestListingTerminal compares listings on a terminal with listings that are
// written to a pipe.
func TestListingTerminal(t *testing.T) {
	fetch := commandtest.Fetch(t)
	dir := t.TempDir()
	date := time.Date(2020, 2, 3, 12, 0, 0, 0, time.UTC)
	long := strings.Repeat("long", 30)
	for name, size := range map[string]int{"a.txt": 1536, "docs/x": 1, long: 0, "red\x1b[31m": 0} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{name, filepath.Dir(name)} {
			if err := os.Chtimes(path, date, date); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, args, env string
		want, unwanted  string
	}{
		{"size and time for people", "", "", "document   1.5K  Feb  3  2020  a.txt\r\n", ""},
		{"directory in color", "", "", "directory     -  Feb  3  2020  \x1b[1;34mdocs\x1b[0m\r\n", ""},
		{"NO_COLOR", "", "NO_COLOR=1", "Feb  3  2020  docs\r\n", "\x1b"},
		{"terminal without colors", "", "TERM=dumb", "Feb  3  2020  docs\r\n", "\x1b"},
		{"LS_COLORS", "", "LS_COLORS=di=01;35:*.txt=31", "\x1b[31ma.txt\x1b[0m\r\n", "1;34m"},
		{"hyperlinks to local files", "", "FORCE_HYPERLINK=1", "Feb  3  2020  a.txt\r\n", "\x1b]"},
		{"long name", "", "", strings.Repeat("long", 12) + "…\r\n", long},
		{"control characters of a name", "", "", `red\x1b[31m`, "\x1b[31m"},
		{"media type", "--with-type", "", "Feb  3  2020  text/plain                a.txt\r\n", "ndjson"},
		{"URL", "--with-url", "", "          file://" + dir + "/a.txt\r\n", ""},
		{"pipe", "| cat", "", "document         1536 2020-02-03T12:00:00Z a.txt\r\n", "\x1b"},
		{"whole name in a pipe", "| cat", "", long + "\r\n", "…"},
		{"URL in a pipe", "--with-url | cat", "", "a.txt\tfile://" + dir + "/a.txt\r\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			shell := exec.Command("/bin/sh", "-c", `stty cols 80 <&1; "$F" -q ls "file://$D/" `+c.args)
			shell.Env = append(os.Environ(), "F="+fetch, "D="+dir, "TERM=xterm", "NO_COLOR=", "LS_COLORS=", "TZ=UTC", c.env)
			got := onTerminal(t, shell)
			if !strings.Contains(got, c.want) || c.unwanted != "" && strings.Contains(got, c.unwanted) {
				t.Errorf("got\n%s\nwant %q, not %q", got, c.want, c.unwanted)
			}
		})
	}
}

// TestHyperlinks checks the hyperlinks of a listing of a server on a terminal.
func TestHyperlinks(t *testing.T) {
	fetch := commandtest.Fetch(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>Index of /</title><pre><a href=\"a%1B.txt\">a\x1b]8;;x:y\x1b\\</a> 1-Jan-2026 10:00  5\n")
	}))
	defer s.Close()
	for _, c := range []struct{ oddity, command, env, want string }{
		{"ls", `ls "$U/"`, "FORCE_HYPERLINK=1", "\x1b]8;;$U/a%1B.txt\x1b\\"},
		{"ls, terminal that is known", `ls "$U/"`, "VTE_VERSION=7600", "\x1b]8;;$U/a%1B.txt\x1b\\"},
		{"browse", `browse "$U/" </dev/null`, "FORCE_HYPERLINK=1", "\x1b]8;;$U/a%1B.txt\x1b\\"},
		{"off", `ls "$U/"`, "FORCE_HYPERLINK=0", ""},
		{"pipe", `ls "$U/" | cat`, "FORCE_HYPERLINK=1", ""},
	} {
		t.Run(c.oddity, func(t *testing.T) {
			shell := exec.Command("/bin/sh", "-c", `"$F" -q `+c.command)
			shell.Env = append(os.Environ(), "F="+fetch, "U="+s.URL, "TERM=xterm", "NO_COLOR=1", "VTE_VERSION=", c.env)
			got := onTerminal(t, shell)
			want := strings.ReplaceAll(c.want, "$U", s.URL)
			if !strings.Contains(got, want) || want == "" && strings.Contains(got, "\x1b") || strings.Contains(got, "x:y\x1b") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
