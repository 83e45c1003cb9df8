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
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/uri"
)

// TestLinks: a symbolic link in the tree leads nowhere, be it out of the
// archive or to another place in it.
func TestLinks(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct{ name, link, target string }{
		{"host folder to outside", "tree/http/h", outside},
		{"by a relative path", "tree/http/h", "../../../" + filepath.Base(outside)},
		{"to another place of the archive", "tree/http/h", "../../warc"},
		{"to a sibling", "tree/http/h", "other"},
		{"deeper", "tree/http/h/d", "../other"},
		{"the tree itself", "tree", "warc"},
		{"to nowhere", "tree/http/h", "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := open(t)
			os.MkdirAll(filepath.Join(dir, "warc"), 0o755)
			if c.link != "tree" {
				os.MkdirAll(filepath.Join(dir, "tree/http/other"), 0o755)
			}
			link := filepath.Join(dir, c.link)
			os.MkdirAll(filepath.Dir(link), 0o755)
			if err := os.Symlink(c.target, link); err != nil {
				t.Fatal(err)
			}
			if err := write(t, s, "http/h/d/f", "x", time.Time{}); !errors.Is(err, fetch.Local) {
				t.Errorf("got %v", err)
			}
			for _, d := range []string{outside, filepath.Join(dir, "warc"), filepath.Join(dir, "tree/http/other")} {
				if list, _ := os.ReadDir(d); len(list) > 0 && d != filepath.Join(dir, "warc") || c.link != "tree" && len(list) > 0 {
					t.Errorf("%s holds %v", d, list)
				}
			}
			if n := left(t, s); n != 1 {
				t.Errorf("%d files are left for another attempt", n)
			}
		})
	}
}

// TestOwnLinks: neither do links in the place of a Store's own folders.
func TestOwnLinks(t *testing.T) {
	for _, own := range []string{Tmp, attic} {
		s, dir := open(t)
		if err := write(t, s, "http/h/a", "x", time.Time{}); err != nil {
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
			t.Errorf("%s: written through it: %v", own, list)
		}
	}
}

// TestFileLinks: a link in the place of a file is replaced, not followed, and
// not read.
func TestFileLinks(t *testing.T) {
	s, dir := open(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(t, s, "http/h/a", "x", time.Time{}); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{secret, "a"} {
		link := filepath.Join(dir, "tree/http/h/f")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if f, err := s.Open("http/h/f"); err == nil {
			f.Close()
			t.Errorf("a link to %s was opened", target)
		}
		if err := write(t, s, "http/h/f", "new", time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, "tree/http/h/f"); got != "new" {
			t.Errorf("got %q", got)
		}
		os.Remove(link)
	}
	if got := read(t, "/", secret); got != "secret" {
		t.Errorf("what the link led to is %q", got)
	}
}

// TestPipe: a pipe in the place of a file or a folder is not waited for.
func TestPipe(t *testing.T) {
	s, dir := open(t)
	if err := write(t, s, "http/h/a", "x", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "tree/http/h/p"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := s.Open("http/h/p"); !errors.Is(err, fetch.Local) {
		t.Errorf("got %v", err)
	}
	if err := write(t, s, "http/h/p/f", "x", time.Time{}); !errors.Is(err, fetch.Local) {
		t.Errorf("got %v", err)
	}
}

// TestRepository: git does not treat the files of a server as a repository,
// whose configuration would name a command to run.
func TestRepository(t *testing.T) {
	git := peer.Need(t, "git", "git")
	for _, c := range []struct {
		name   string
		head   string // of the URL
		layout Layout
		obeyed bool
	}{
		{"the first layout", "HEAD", FirstLayout, true},
		{"bare", "HEAD", NewLayout, false},
		{"encoded", "%48%45%41%44", NewLayout, false},
		{"in lower case", "head", NewLayout, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			proof := filepath.Join(dir, "proof")
			for name, text := range map[string]string{
				c.head:      "ref: refs/heads/x\n",
				"config":    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch '" + proof + "'; false\"\n",
				"objects/a": "", "refs/heads/a": "",
			} {
				path := filepath.Join(dir, c.layout.Path(uri.MustParse("http://h/r/"+name), false))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), git, "status")
			cmd.Dir = filepath.Join(dir, "http/h/r")
			cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
			out, _ := cmd.CombinedOutput() // fails where there is no repository
			if _, err := os.Stat(proof); (err == nil) != c.obeyed {
				t.Errorf("git obeyed the configuration: %t, want %t: %s", err == nil, c.obeyed, out)
			}
		})
	}
}
