//go:build unix

package tree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
)

// TestSymlinkInPath checks that Publish does not follow a symbolic link in a
// path, whether the target is in the archive or outside of it.
func TestSymlinkInPath(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct{ name, link, target string }{
		{"host folder, absolute target outside the archive", "tree/http/h", outside},
		{"host folder, relative target outside the archive", "tree/http/h", "../../../" + filepath.Base(outside)},
		{"host folder, target in another folder of the archive", "tree/http/h", "../../warc"},
		{"host folder, target is a sibling", "tree/http/h", "other"},
		{"folder below the host", "tree/http/h/d", "../other"},
		{"folder of the tree", "tree", "warc"},
		{"dangling link", "tree/http/h", "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := openStore(t)
			os.MkdirAll(filepath.Join(dir, "warc"), 0o755)
			if c.link != "tree" {
				os.MkdirAll(filepath.Join(dir, "tree/http/other"), 0o755)
			}
			link := filepath.Join(dir, c.link)
			os.MkdirAll(filepath.Dir(link), 0o755)
			if err := os.Symlink(c.target, link); err != nil {
				t.Fatal(err)
			}
			if err := publishFile(t, s, "http/h/d/f", "x", time.Time{}); !errors.Is(err, fetch.Local) {
				t.Errorf("got %v", err)
			}
			for _, d := range []string{outside, filepath.Join(dir, "warc"), filepath.Join(dir, "tree/http/other")} {
				if list, _ := os.ReadDir(d); len(list) > 0 && d != filepath.Join(dir, "warc") || c.link != "tree" && len(list) > 0 {
					t.Errorf("%s contains %v", d, list)
				}
			}
			if n := countUnpublished(t, s); n != 1 {
				t.Errorf("got %d unpublished files, want 1", n)
			}
		})
	}
}

// TestSymlinkAtStoreFolder checks that a Store does not follow a symbolic link
// in place of its temporary folder or its attic.
func TestSymlinkAtStoreFolder(t *testing.T) {
	for _, own := range []string{Tmp, Attic} {
		s, dir := openStore(t)
		if err := publishFile(t, s, "http/h/a", "x", time.Time{}); err != nil {
			t.Fatal(err)
		}
		os.Mkdir(filepath.Join(dir, "warc"), 0o755)
		os.Remove(filepath.Join(dir, own))
		if err := os.Symlink("warc", filepath.Join(dir, own)); err != nil {
			t.Fatal(err)
		}
		again, err := Open(dir, Options{})
		if err == nil {
			err = again.MoveToAttic("http/h/a", "1")
			again.Close()
		}
		if !errors.Is(err, fetch.Local) {
			t.Errorf("%s: got %v", own, err)
		}
		if list, _ := os.ReadDir(filepath.Join(dir, "warc")); len(list) > 0 {
			t.Errorf("%s: a file was written through the link: %v", own, list)
		}
	}
}

// TestSymlinkAtFile checks that Open rejects a symbolic link in place of a file
// and that Publish replaces the link.
func TestSymlinkAtFile(t *testing.T) {
	s, dir := openStore(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publishFile(t, s, "http/h/a", "x", time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{secret, "a"} {
		link := filepath.Join(dir, "tree/http/h/f")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if f, err := s.Open("http/h/f"); err == nil {
			f.Close()
			t.Errorf("Open followed a link to %s", target)
		}
		if err := publishFile(t, s, "http/h/f", "new", time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, dir, "tree/http/h/f"); got != "new" {
			t.Errorf("got %q", got)
		}
		os.Remove(link)
	}
	if got := readFile(t, "/", secret); got != "secret" {
		t.Errorf("target of the link: got %q, want %q", got, "secret")
	}
}

// TestNamedPipe checks that Open and Publish return an error for a named pipe
// and do not block.
func TestNamedPipe(t *testing.T) {
	s, dir := openStore(t)
	if err := publishFile(t, s, "http/h/a", "x", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "tree/http/h/p"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := s.Open("http/h/p"); !errors.Is(err, fetch.Local) {
		t.Errorf("got %v", err)
	}
	if err := publishFile(t, s, "http/h/p/f", "x", time.Time{}); !errors.Is(err, fetch.Local) {
		t.Errorf("got %v", err)
	}
}

// TestGitRepository checks that git does not treat mirrored files as a
// repository. The configuration of a repository could run a command.
func TestGitRepository(t *testing.T) {
	git := peer.Need(t, "git", "git")
	for _, c := range []struct {
		name   string
		head   string // name of the file HEAD in the URL
		layout Layout
		runs   bool // if true, git runs the command
	}{
		{"first layout", "HEAD", FirstLayout, true},
		{"plain", "HEAD", NewLayout, false},
		{"encoded", "%48%45%41%44", NewLayout, false},
		{"lower case", "head", NewLayout, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			proof := filepath.Join(dir, "proof")
			for name, text := range map[string]string{
				c.head: "ref: refs/heads/x\n",
				"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n" +
					"\tfsmonitor = \"touch '" + proof + "'; false\"\n",
				"objects/a": "", "refs/heads/a": "",
			} {
				path := filepath.Join(dir, pathIn(c.layout, uri.MustParse("http://h/r/"+name), false))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), git, "status")
			cmd.Dir = filepath.Join(dir, "http/h/r")
			cmd.Env = []string{
				"HOME=" + dir, "PATH=" + os.Getenv("PATH"),
				"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
			}
			out, _ := cmd.CombinedOutput() // git fails if the folder is not a repository
			if _, err := os.Stat(proof); (err == nil) != c.runs {
				t.Errorf("git ran the command of the configuration: %t, want %t: %s", err == nil, c.runs, out)
			}
		})
	}
}
