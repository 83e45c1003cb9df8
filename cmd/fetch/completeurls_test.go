//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	// A completion waits for a listing for a short time only, so a slow machine
	// needs several attempts. The rows below find the listing in the cache.
	for end := time.Now().Add(commandtest.WaitTimeout); time.Now().Before(end); {
		if words, _ := complete(t, "ls", "ftp://"+s.Addr+"/pub/"); len(words) > 0 {
			break
		}
	}
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

// shellFolder returns a folder with files to complete, and the environment of a
// shell in which the command is found.
func shellFolder(t *testing.T) (dir string, env []string) {
	t.Helper()
	fetch := commandtest.Fetch(t)
	home := t.TempDir()
	dir = filepath.Join(home, "files")
	err := os.Mkdir(dir, 0o700)
	for _, name := range []string{"one.txt", "two words.txt"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, append(os.Environ(), "PATH="+filepath.Dir(fetch)+":"+os.Getenv("PATH"), "D="+dir, "HOME="+home, "XDG_CACHE_HOME="+home,
		"XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "TERM=xterm")
}

// TestZshCompletion types lines in an interactive zsh, and presses Tab. The key
// Control-X prints the completed line.
func TestZshCompletion(t *testing.T) {
	zsh := peer.Need(t, "zsh", "zsh")
	dir, env := shellFolder(t)
	const inner = `
autoload -Uz compinit
compinit -u -D
source <(fetch completion zsh)
compdef _fetch fetch
show() { print -r -- "LINE<$BUFFER>"; BUFFER=; }
zle -N show
bindkey '^X' show
unsetopt beep
PS1= PROMPT_SP=
print READY
`
	const script = `
zmodload zsh/zpty
zpty shell $ZSH -f -i
zpty -w shell "source $HOME/inner"
zpty -r shell text '*READY*'
for line in "fetch ver" "fetch mirror --sco" "fetch mirror --scope pre" "fetch ls file://$D/on" "fetch ls file://$D/tw" "fetch completion f"; do
	zpty -wn shell "$line"$'\t\x18'
	zpty -r shell text '*LINE<*>*'
	text=${text##*LINE<}
	print -r -- "${text%%>*}"
done
`
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "inner"), []byte(inner), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, zsh, "-f", "-c", script)
	c.Env = append(env, "ZSH="+zsh)
	out, err := c.CombinedOutput()
	want := "fetch verify \nfetch mirror --scope \nfetch mirror --scope prefix \nfetch ls file://" + dir + "/one.txt\n" +
		"fetch ls file://" + dir + "/two%20words.txt\nfetch completion fish \n"
	if err != nil || string(out) != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, out, want)
	}
}

// TestFishCompletion runs the completion script in fish.
func TestFishCompletion(t *testing.T) {
	fish := peer.Need(t, "fish", "fish")
	dir, env := shellFolder(t)
	const script = `
fetch completion fish | source
for line in "fetch ver" "fetch mirror --sco" "fetch mirror --scope pre" "fetch mirror --scope=pre" "fetch ls file://$D/" "fetch ls goph" "fetch completion f"
	complete -C $line
end
`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, fish, "--no-config", "-c", script)
	c.Env = env
	out, err := c.CombinedOutput()
	var words []string
	for line := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t") // without the description
		words = append(words, word)
	}
	want := []string{"verify", "--scope", "prefix", "--scope=prefix", "file://" + dir + "/one.txt", "file://" + dir + "/two%20words.txt",
		"gopher://", "gophers://", "fish"}
	if err != nil || !slices.Equal(words, want) {
		t.Errorf("%v: got %q, want %q", err, words, want)
	}
}
