package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// treeFiles is a tree with sizes, an empty directory's stand-in, and names that
// need escaping.
var treeFiles = map[string]string{
	"pub/readme.txt": "hello\n", "pub/big.iso": strings.Repeat("x", 20_000), "pub/sub/a b.txt": "one", "pub/sub/deep/c.ISO": strings.Repeat("y", 5_000),
	"pub/sub/deep/café.txt": "", "pub/other/#1.txt": "12345",
}

// TestTreeCommands runs find, du and diff over ftp, http, sftp and file, and
// checks that every scheme gives the same results.
func TestTreeCommands(t *testing.T) {
	ftp, web, ssh := peer.Vsftpd(t, peer.FTPOptions{}), peer.Nginx(t, peer.NginxOptions{}), peer.SSHD(t, peer.SSHDOptions{})
	local := t.TempDir()
	for name, body := range treeFiles {
		ftp.Put(name, []byte(body))
		web.Put(name, []byte(body))
		ssh.Put(name, []byte(body))
		path := filepath.Join(local, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SSH_AUTH_SOCK", "")
	sshRoot, sshFlags := "sftp://"+peer.User+"@"+ssh.Addr+ssh.Root+"/", []string{"--knownhosts", ssh.KnownHosts, "--key", ssh.UserKey}
	for _, c := range []struct {
		name, root string
		flags      []string
	}{
		{"ftp", "ftp://" + ftp.Addr + "/pub/", nil},
		{"ftp without the final slash", "ftp://" + ftp.Addr + "/pub", nil},
		{"http", "http://" + web.Addr + "/pub/", nil},
		{"http without the final slash", "http://" + web.Addr + "/pub", nil},
		{"sftp", sshRoot + "pub/", sshFlags},
		{"file", "file://" + filepath.ToSlash(local) + "/pub/", nil},
		{"folder", filepath.Join(local, "pub"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			find := func(flags ...string) string {
				return relative(t, runFetch(t, 0, slices.Concat([]string{"find"}, c.flags, flags, []string{c.root})...))
			}
			for _, f := range []struct{ flags, want string }{
				{"", "/ big.iso other/ other/%231.txt readme.txt sub/ sub/a%20b.txt sub/deep/ sub/deep/c.ISO sub/deep/caf%C3%A9.txt"},
				{"--name *.iso", "big.iso"},
				{"--iname *.iso", "big.iso sub/deep/c.ISO"},
				{"--type d", "/ other/ sub/ sub/deep/"},
				{"--type f --max-depth 1", "big.iso readme.txt"},
				{"--path sub/*", "sub/a%20b.txt sub/deep/ sub/deep/c.ISO sub/deep/caf%C3%A9.txt"},
				{"--size +4k", "big.iso sub/deep/c.ISO"},
				{"--size 0", "sub/deep/caf%C3%A9.txt"},
				{"--size -6", "other/%231.txt sub/a%20b.txt sub/deep/caf%C3%A9.txt"},
				{"--newer 2099-01-01", ""},
				{"--newer 2001-01-01 --name r*", "readme.txt"},
			} {
				if got := find(strings.Fields(f.flags)...); got != f.want {
					t.Errorf("find %s: got %q, want %q", f.flags, got, f.want)
				}
			}
			if !strings.HasPrefix(c.root, "/") {
				urls := relative(t, runFetch(t, 0, slices.Concat([]string{"ls", "-R", "--urls"}, c.flags, []string{c.root})...))
				if want := "big.iso other/ other/%231.txt readme.txt sub/ sub/a%20b.txt sub/deep/ sub/deep/c.ISO sub/deep/caf%C3%A9.txt"; urls != want {
					t.Errorf("ls -R --urls: got %q, want %q", urls, want)
				}
				contains(t, runFetch(t, 0, slices.Concat([]string{"ls", "--recursive"}, c.flags, []string{c.root})...), "/pub", ":\n", "\n\n", "/pub/sub/deep/:\n")
			}
			for _, f := range []struct{ flags, want string }{
				{"ls --urls -r", "sub/ readme.txt other/ big.iso"},
				{"ls --urls -r --sort size", "readme.txt big.iso sub/ other/"},
				{"find --type f --sort size", "big.iso sub/deep/c.ISO readme.txt other/%231.txt sub/a%20b.txt sub/deep/caf%C3%A9.txt"},
				{"find --type f --sort name --reverse --max-depth 1", "readme.txt big.iso"},
				{"du --sort size", "/ sub/ sub/deep/ other/"},
				{"du -s", "/"},
			} {
				if strings.HasPrefix(f.flags, "ls") && strings.HasPrefix(c.root, "/") {
					continue
				}
				if got := inOrder(runFetch(t, 0, slices.Concat(strings.Fields(f.flags), c.flags, []string{c.root})...)); got != f.want {
					t.Errorf("%s: got %q, want %q", f.flags, got, f.want)
				}
			}
			long := runFetch(t, 0, slices.Concat([]string{"find", "--long", "--human-readable", "--name", "big.iso"}, c.flags, []string{c.root})...)
			if words := strings.Fields(long); len(words) != 4 || words[0] != "document" || !strings.HasSuffix(words[3], "/pub/big.iso") {
				t.Errorf("find --long: %q", long)
			}
			du := runFetch(t, 0, slices.Concat([]string{"du"}, c.flags, []string{c.root})...)
			var sums []string
			for line := range strings.Lines(du) {
				size, _, _ := strings.Cut(line, "\t")
				sums = append(sums, size)
			}
			if got := strings.Join(sums, " "); got != "5 5000 5003 25014" {
				t.Errorf("du: %q", du)
			}
			contains(t, runFetch(t, 0, slices.Concat([]string{"du", "--json", "--summarize"}, c.flags, []string{c.root})...),
				`"bytes":25014,"files":6,"directories":3}`)
			if got := runFetch(t, 0, slices.Concat([]string{"diff", "--content"}, c.flags, []string{c.root, filepath.Join(local, "pub")})...); got != "" {
				t.Errorf("diff: %s", got)
			}
		})
	}
	for name, body := range map[string]string{"pub/big.iso": strings.Repeat("z", 20_000), "pub/sub/a b.txt": "longer", "pub/new/x": "x", "pub/readme.txt": "hello\n"} {
		ftp.Put(name, []byte(body))
	}
	for _, c := range []struct{ flags, want string }{
		{"", "+\tnew/\n*\tsub/a b.txt\t3 and 6 bytes\n"},
		{"--ignore-size", "+\tnew/\n"},
		{"--content", "*\tbig.iso\tdifferent content\n+\tnew/\n*\tsub/a b.txt\t3 and 6 bytes\n"},
	} {
		args := slices.Concat([]string{"diff"}, strings.Fields(c.flags), []string{"http://" + web.Addr + "/pub/", "ftp://" + ftp.Addr + "/pub/"})
		if got := runFetch(t, 8, args...); got != c.want {
			t.Errorf("diff %s: got %q, want %q", c.flags, got, c.want)
		}
	}
}

// inOrder returns the URLs at the ends of lines, relative to the directory "pub" and
// separated by spaces.
func inOrder(text string) string {
	var names []string
	for line := range strings.Lines(text) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "/pub")
		if name = strings.TrimPrefix(name, "/"); name == "" {
			name = "/"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// relative returns the URLs in text, relative to the first URL of the longest
// listing, sorted and separated by spaces. All are below a directory "pub".
func relative(t *testing.T, text string) string {
	t.Helper()
	var names []string
	for line := range strings.Lines(text) {
		_, name, ok := strings.Cut(strings.TrimSpace(line), "/pub")
		if !ok {
			t.Errorf("unexpected line %q", line)
		}
		if name != "/" && name != "" {
			name = strings.TrimPrefix(name, "/")
		} else {
			name = "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestListingLetters checks the letters of ls and du with a local folder: order,
// sizes with units, and the help.
func TestListingLetters(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"new", "old", "middle"} {
		name = filepath.Join(dir, name)
		date := time.Date(2026, 5, []int{3, 1, 2}[i], 12, 0, 0, 0, time.UTC)
		if err := errors.Join(os.WriteFile(name, make([]byte, []int{1024, 5 << 20, 3}[i]), 0o666), os.Chtimes(name, date, date)); err != nil {
			t.Fatal(err)
		}
	}
	url := "file://" + filepath.ToSlash(dir) + "/"
	row := func(size, day, name string) string {
		return "document " + strings.Repeat(" ", 12-len(size)) + size + " 2026-05-0" + day + "T12:00:00Z " + name + "\n"
	}
	for _, c := range []struct{ args, want string }{
		{"ls -lt", row("1024", "3", "new") + row("3", "2", "middle") + row("5242880", "1", "old")},
		{"ls -ltrh", row("5.0M", "1", "old") + row("3", "2", "middle") + row("1.0K", "3", "new")},
		{"ls -s --sort size -h", row("5.0M", "1", "old") + row("1.0K", "3", "new") + row("3", "2", "middle")},
		{"ls --urls -t -Z", url + "new\n" + url + "middle\n" + url + "old\n"},
		{"du -sh", "5.0 MiB\t" + url + "\n"},
		{"du -a -d 1 --sort name --reverse", "5242880\t" + url + "old\n1024\t" + url + "new\n3\t" + url + "middle\n5243907\t" + url + "\n"},
	} {
		got := runFetch(t, 0, append(strings.Fields(c.args), url)...)
		if got != c.want {
			t.Errorf("fetch %s:\ngot\n%s\nwant\n%s", c.args, got, c.want)
		}
	}
	for _, args := range []string{"ls -h", "du -h", "ls --help"} {
		contains(t, runFetch(t, 0, strings.Fields(args)...), "Usage:", "--human-readable")
	}
	if text := runFetch(t, 2, "ls", "-S", url); text != "" {
		t.Errorf("ls -S: %q", text)
	}
}

// TestTreeFailures checks wrong arguments, and directories that cannot be
// listed.
func TestTreeFailures(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("pub/a.txt", []byte("a"))
	web.Put("pub/index.html", []byte("<html>a page</html>"))
	url := "http://" + web.Addr + "/pub/"
	for _, c := range []struct {
		name string
		exit int
		args []string
		want string
	}{
		{"no URL", 2, []string{"find"}, "requires a URL"},
		{"one URL for diff", 2, []string{"diff", url}, "requires two URLs"},
		{"malformed URL", 2, []string{"find", "http://["}, "closing bracket"},
		{"malformed URL for du", 2, []string{"du", "http://["}, "closing bracket"},
		{"malformed URL and a listing", 13, []string{"du", "http://[", t.TempDir()}, "closing bracket"},
		{"unknown type", 2, []string{"find", "--type", "x", url}, "--type is f or d"},
		{"malformed pattern", 2, []string{"find", "--name", "[", url}, "malformed"},
		{"malformed size", 2, []string{"find", "--size", "+x", url}, "x"},
		{"neither date nor file", 2, []string{"find", "--newer", "nothing", url}, "neither a date nor a file"},
		{"page instead of a listing", 12, []string{"du", url}, ""},
		{"missing directory", 8, []string{"find", url + "missing/"}, ""},
		{"policy", 9, []string{"find", "http://169.254.169.254/"}, "policy"},
		{"recursive listing of one kind", 2, []string{"ls", "-R", "--native", url}, "--recursive excludes"},
		{"recursive listing of a page", 12, []string{"ls", "-R", url}, ""},
		{"unknown order", 2, []string{"find", "--sort", "date", url}, "--sort is name, time or size"},
		{"unknown order of ls", 2, []string{"ls", "--sort", "date", url}, "--sort is name, time or size"},
		{"order of times of directories", 2, []string{"du", "--sort", "time", url}, "no time"},
		{"order and JSON", 2, []string{"find", "--long", "--json", url}, "exclude"},
		{"long listing of URLs", 2, []string{"ls", "-l", "--urls", url}, "--long excludes"},
		{"order of a listing of one kind", 2, []string{"ls", "-t", "--native", url}, "--native excludes"},
		{"download flag", 2, []string{"find", "-o", "x", url}, ""},
	} {
		_, stderr := runFetchStderr(t, c.exit, c.args...)
		if !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %s", c.name, stderr)
		}
	}
}

// TestTreeCookies checks that find, du and diff save cookies.
func TestTreeCookies(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "a=b")
		io.WriteString(w, `<title>Index of /</title><h1>Index of /</h1><pre><a href="../">../</a>\n</pre>`)
	}))
	defer s.Close()
	for name, args := range map[string][]string{"find": {s.URL + "/"}, "du": {s.URL + "/"}, "diff": {s.URL + "/", s.URL + "/"}} {
		jar := filepath.Join(t.TempDir(), "jar")
		runFetch(t, 0, append([]string{name, "-c", jar}, args...)...)
		if text, err := os.ReadFile(jar); err != nil || !strings.Contains(string(text), "a\tb\n") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
