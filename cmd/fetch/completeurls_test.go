//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestCompletionURLs checks the completions of hosts and of directories.
func TestCompletionURLs(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".netrc", "machine ftp.example.org login a password secret\n")
	write(".ssh/known_hosts", "ssh.example.org,192.0.2.1 ssh-ed25519 AAAA\n|1|hash= ssh-ed25519 AAAA\n")
	write("files/one.txt", "")
	write("files/two words.txt", "")
	write("files/sub/x", "")
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.Put("pub/a.iso", []byte("x"))
	s.Put("pub/b\x1b.iso", []byte("x"))
	s.Put("pub/dir/c", []byte("x"))
	for _, c := range []struct{ oddity, typed, want string }{
		{"host of netrc", "ftp://ftp", "ftp://ftp.example.org/"},
		{"host of netrc after a user", "ftp://me@f", "ftp://me@ftp.example.org/"},
		{"host of known_hosts", "sftp://ssh", "sftp://ssh.example.org/"},
		{"password in netrc", "ftp://secret", ""},
		{"directory of this machine", "file://" + home + "/files/", "file://" + home + "/files/one.txt file://" + home + "/files/sub/ file://" + home + "/files/two%20words.txt"},
		{"start of a name", "file://" + home + "/files/o", "file://" + home + "/files/one.txt"},
		{"missing directory", "file://" + home + "/none/", ""},
		{"directory of a server", "ftp://" + s.Addr + "/pub/", "ftp://" + s.Addr + "/pub/a.iso ftp://" + s.Addr + "/pub/b%1B.iso ftp://" + s.Addr + "/pub/dir/"},
		{"host that was completed", "ftp://127", "ftp://" + s.Addr + "/"},
		{"scheme without directories", "http://" + s.Addr + "/pub/", ""},
		{"query", "file://" + home + "/files/?", ""},
	} {
		words, directive := complete(t, "ls", c.typed)
		slices.Sort(words)
		if got := strings.Join(words, " "); got != c.want || directive != ":4" && directive != ":6" {
			t.Errorf("%s: got %q, %s, want %q", c.oddity, got, directive, c.want)
		}
	}
	s.Put("pub/later.iso", []byte("x"))
	if words, _ := complete(t, "ls", "ftp://"+s.Addr+"/pub/la"); len(words) > 0 {
		t.Errorf("the cache is not used: %q", words)
	}
}

// TestBashCompletion runs the completion script in a bash without the package
// bash-completion.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	fetch := commandtest.Fetch(t)
	dir := t.TempDir()
	for _, name := range []string{"one.txt", "other.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
source <(fetch completion bash)
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    __start_fetch 2>/dev/null
    echo "${COMPREPLY[@]}"
}
complete_line "fetch mirror --sco" fetch mirror --sco
complete_line "fetch ls goph" fetch ls goph
complete_line "fetch ls file://$D/o" fetch ls file : "//$D/o"
complete_line "fetch mirror --scope=pre" fetch mirror --scope = pre
complete_line "fetch ver" fetch ver
`
	c := exec.Command(bash, "--norc", "--noprofile", "-c", script)
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(fetch)+":"+os.Getenv("PATH"), "D="+dir, "HOME="+dir, "XDG_CACHE_HOME="+dir)
	out, err := c.CombinedOutput()
	want := "--scope\ngopher:// gophers://\n//" + dir + "/one.txt //" + dir + "/other.txt\n"
	if err != nil || !strings.HasPrefix(string(out), want) || !strings.HasSuffix(strings.TrimSpace(string(out)), "verify") {
		t.Errorf("%v: got\n%s\nwant\n%s", err, out, want)
	}
}
