package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		{"download flag", 2, []string{"find", "-o", "x", url}, ""},
	} {
		_, stderr := runFetchStderr(t, c.exit, c.args...)
		if !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %s", c.name, stderr)
		}
	}
}
