//go:build unix

package regularfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpen verifies that only regular files are opened, and that files opened
// for writing have a single hard link.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), os.WriteFile(at("one"), []byte("text"), 0o600), os.Link(at("one"), at("two")),
		os.Symlink("file", at("link")), os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]struct{ read, write bool }{
		"file": {true, true}, "one": {true, false}, "two": {true, false}, "link": {true, true},
		"folder": {}, "pipe": {},
	} {
		for _, c := range []struct {
			way  string
			open func() (*os.File, error)
			want bool
		}{
			{"Open", func() (*os.File, error) { return Open(at(name)) }, want.read},
			{"OpenIn", func() (*os.File, error) { return OpenIn(root, name) }, want.read},
			{"appending", func() (*os.File, error) { return OpenFileIn(root, name, os.O_RDWR|os.O_APPEND, 0) }, want.write},
			{"emptying", func() (*os.File, error) { return OpenFileIn(root, name, os.O_WRONLY|os.O_TRUNC, 0) }, want.write},
		} {
			f, err := c.open()
			if (err == nil) != c.want || err != nil && f != nil {
				t.Errorf("%s %s: %v", c.way, name, err)
			}
			if err == nil {
				f.Close()
			}
		}
		if err := CheckFolder(root, name); (err == nil) != (name == "folder") {
			t.Errorf("folder %s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(at("two")); err != nil || string(text) != "text" {
		t.Errorf("the file with two links contains %q, %v", text, err)
	}
	if err := CheckFolder(root, "none"); err != nil {
		t.Error(err)
	}
	if _, err := Open(at("pipe")); err == nil {
		t.Error(err)
	}
}

// TestOwnTarget checks whose files and links count as files of this user.
func TestOwnTarget(t *testing.T) {
	const other = 65534
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("file"), nil, 0o600), os.Symlink("file", at("link")), os.Symlink("none", at("link to none")),
		os.Symlink("loop", at("loop")))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"file": true, "link": true, "link to none": true, "none": true, "file/x": false, "loop": false}
	if os.Geteuid() == 0 {
		err := errors.Join(os.WriteFile(at("foreign"), nil, 0o600), os.Symlink("foreign", at("link to foreign")), os.Symlink("file", at("foreign link")),
			os.Symlink("none", at("foreign link to none")), os.Chown(at("foreign"), other, other),
			os.Lchown(at("foreign link"), other, other), os.Lchown(at("foreign link to none"), other, other),
			os.Symlink("foreign link", at("link to foreign link")))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"foreign", "link to foreign", "foreign link", "foreign link to none", "link to foreign link"} {
			want[name] = false
		}
	}
	for name, own := range want {
		target, got, err := OwnTarget(at(name))
		if got != own || (err != nil) != (name == "file/x" || name == "loop") {
			t.Errorf("%s: %t, %v", name, got, err)
		}
		if _, to, linked := strings.Cut(name, "link to "); linked && own && target != at(to) {
			t.Errorf("%s: target %s", name, target)
		}
	}
}
