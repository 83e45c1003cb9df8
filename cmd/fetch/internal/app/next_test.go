package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

// TestGroups checks how --next divides a command line.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ oddity, args, want string }{
		{"no --next", "-s a", "-s a"},
		{"global flags", "-sS -o x a --next -o y b", "-sS -o x a|--silent --show-error -o y b"},
		{"files of messages", "--stderr e a --next b -: --trace-ascii=t c -: d", "--stderr e a|--stderr e b|--stderr e --trace-ascii=t c|--stderr e --trace-ascii=t d"},
		{"value like a file of messages", "-A --stderr a --next b", "-A --stderr a|b"},
		{"short form", "-v a -: b -: c", "-v a|--verbose b|--verbose c"},
		{"other flags are not global", "-I --retry 2 a --next b", "-I --retry 2 a|b"},
		{"arguments after --", "a -- --next b", "a -- --next b"},
		{"empty group", "a --next", "a|"},
		{"value of a flag", "--proto https -A --next a", "--proto https -A --next a"},
		{"value of a flag, short form", "--proto https -sA -: a --user-agent -: b", "--proto https -sA -: a --user-agent -: b"},
		{"value in the same word", "-Ax --next -A=x -: --user-agent=x --next a", "-Ax|-A=x|--user-agent=x|a"},
		{"value that looks like a flag with a value", "-A -A --next a", "-A -A|a"},
		{"value -- of a flag", "-A -- a --next b", "-A -- a|b"},
		{"value that looks like a global flag", "-A -v a --next b", "-A -v a|b"},
		{"optional value", "--render --next a", "--render|a"},
		{"flag of a command", "find --type --next a -: ls -l b", "find --type --next a|ls -l b"},
		{"unknown flag", "--unknown --next a", "--unknown|a"},
	} {
		var got []string
		for _, g := range groupsOf(strings.Fields(c.args), Commands(new(console.Streams)).AwaitsValue) {
			got = append(got, strings.Join(g, " "))
		}
		if want := strings.Split(c.want, "|"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", c.oddity, got, want)
		}
	}
}

// TestSharedLog checks that groups add their messages to one file.
func TestSharedLog(t *testing.T) {
	for _, c := range []struct{ oddity, second string }{
		{"inherited", ""},
		{"the same file again", "--stderr log "},
	} {
		t.Chdir(t.TempDir())
		var out, stderr strings.Builder
		args := strings.Fields("--stderr log --trace-ascii log file:///missing/first --next " + c.second + "file:///missing/second")
		if code := Run(args, strings.NewReader(""), &out, &stderr); code != 8 || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", c.oddity, code, &stderr)
		}
		text, err := os.ReadFile("log")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"first", "second"} {
			if n := strings.Count(string(text), "get file:///missing/"+name+":"); n != 1 {
				t.Errorf("%s: %d errors of the %s group in %s", c.oddity, n, name, text)
			}
		}
	}
}

// TestValueIsNoCommand checks that the value of a flag is not taken for the name of
// a command.
func TestValueIsNoCommand(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.UserAgent())) }))
	defer s.Close()
	for _, args := range []string{"-A ls", "-sA ls", "-sSA mirror", "-sSf -vA help", "--silent -sA verify", "--user-agent info", "-sA --", "-sAls", "-s -sA=ls"} {
		var out, stderr strings.Builder
		words := strings.Fields(args)
		want := strings.TrimPrefix(words[len(words)-1], "-sA")
		want = strings.TrimPrefix(want, "=")
		if code := Run(append(append([]string{"-q"}, words...), s.URL), strings.NewReader(""), &out, &stderr); code != 0 || out.String() != want {
			t.Errorf("%s: exit code %d, %q: %s", args, code, &out, &stderr)
		}
	}
	for _, args := range []string{"ls -sA x --help", "-sA x ls --help"} { // commands
		var out, stderr strings.Builder
		if code := Run(strings.Fields(args), strings.NewReader(""), &out, &stderr); code != 0 || !strings.HasPrefix(out.String(), "ls lists") {
			t.Errorf("%s: exit code %d, %.40q: %s", args, code, &out, &stderr)
		}
	}
}

// TestNext runs groups with files of their own, and checks their exit code and
// the file of --stderr.
func TestNext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(r.Method + " " + r.UserAgent()))
	}))
	defer s.Close()
	dir := t.TempDir()
	name := func(file string) string { return filepath.Join(dir, file) }
	run := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, stderr strings.Builder
		if code := Run(args, strings.NewReader(""), &out, &stderr); code != want {
			t.Errorf("%q: exit code %d, want %d: %s", args, code, want, &stderr)
		}
		return out.String(), stderr.String()
	}
	run(0, "-q", "-A", "one", "-o", name("1"), s.URL+"/a", "--next", "-A", "two", "-o", name("2"), s.URL+"/b")
	for file, want := range map[string]string{"1": "GET one", "2": "GET two"} {
		if text, err := os.ReadFile(name(file)); string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	if out, _ := run(8, "-q", "-s", s.URL+"/missing", "-:", "-A", "x", s.URL+"/a"); out != "GET x" {
		t.Errorf("group after a failure: %q", out)
	}
	run(2, "-q", s.URL+"/a", "--next")
	out, stderr := run(8, "-q", "--stderr", name("log"), s.URL+"/missing")
	if text, err := os.ReadFile(name("log")); out != "" || stderr != "" || !strings.Contains(string(text), "404") {
		t.Errorf("--stderr: %q, %q, %q, %v", out, stderr, text, err)
	}
	if out, stderr := run(8, "-q", "--stderr", "-", s.URL+"/missing"); stderr != "" || !strings.Contains(out, "404") {
		t.Errorf("--stderr -: %q, %q", out, stderr)
	}
	run(3, "-q", "--stderr", dir, s.URL+"/a")
	if _, stderr := run(2, "-q", "--remove-on-error", "-C", "-", "-o", name("3"), s.URL+"/a"); !strings.Contains(stderr, "excludes -C") {
		t.Errorf("--remove-on-error with -C: %q", stderr)
	}
	run(0, "-q", "--remove-on-error", "-o", name("3"), s.URL+"/a")
}
