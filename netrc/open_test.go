//go:build unix

package netrc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOpen(t *testing.T) {
	const text = "machine h.test login u password p\n"
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]fs.FileMode{"0600": 0o600, "0640": 0o640, "0604": 0o604, "0400": 0o400} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.WriteFile(path("bad"), []byte("machine \"s3cret"), 0o600),
		os.Symlink("0600", path("link")),
		os.Symlink("loop", path("loop")),
		os.Mkdir(path("dir"), 0o700),
		syscall.Mkfifo(path("fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		explicit bool
		warn     string
		err      error
	}{
		{name: "0600"},
		{name: "0400"},
		{name: "0640", warn: "is accessible to other users (mode 0640, should be 0600)"},
		{name: "0604", warn: "is accessible to other users (mode 0604, should be 0600)"},
		{name: "0640", explicit: true},
		{name: "link", err: errIrregular},
		{name: "link", explicit: true},
		{name: "loop", explicit: true, err: errIrregular},
		{name: "dir", err: errIrregular},
		{name: "dir", explicit: true, err: errIrregular},
		{name: "fifo", err: errIrregular},
		{name: "fifo", explicit: true, err: errIrregular},
		{name: "absent", err: fs.ErrNotExist},
		{name: "absent", explicit: true, err: fs.ErrNotExist},
		{name: "bad", err: errQuote},
	} {
		f, warn, err := open(path(c.name), c.explicit)
		if !errors.Is(err, c.err) {
			t.Errorf("%s, explicit %v: error %v, want %v", c.name, c.explicit, err, c.err)
		}
		if err != nil && (strings.Count(err.Error(), dir) != 1 || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: error %q", c.name, err)
		}
		if !strings.HasSuffix(warn, c.warn) || (warn == "") != (c.warn == "") {
			t.Errorf("%s, explicit %v: warning %q, want %q", c.name, c.explicit, warn, c.warn)
		}
		if err == nil {
			if e, ok := f.find("h.test", "", false); !ok || e.credential().Password.Reveal() != "p" {
				t.Errorf("%s: found %v, %v", c.name, e, ok)
			}
		}
	}
}

func TestWarning(t *testing.T) {
	for _, c := range []struct {
		mode        fs.FileMode
		owner, user int
		want        string
	}{
		{0o600, 1000, 1000, ""},
		{0o600, 0, 1000, "f is owned by another user (0)"},
		{0o644, 1001, 1000, "f is owned by another user (1001)"},
		{0o620, 1000, 1000, "f is accessible to other users (mode 0620, should be 0600)"},
		{0o666, -1, -1, ""},
	} {
		if got := warning("f", c.mode, c.owner, c.user); got != c.want {
			t.Errorf("mode %o of %d for %d: %q, want %q", c.mode, c.owner, c.user, got, c.want)
		}
	}
}
