package mailstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func files(t *testing.T, d *Maildir) (all []string) {
	t.Helper()
	for path, err := range d.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(d.dir, path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rel)
	}
	return all
}

func TestMaildir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	d := OpenMaildir(dir)
	if _, err := d.Deliver(strings.NewReader("x"), time.Time{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: got %v", err)
	}
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	text := "Date: Thu, 01 Jan 1970 00:00:07 +0000\r\nMessage-ID: <1@h>\r\n\r\n.body\r\n"
	for _, c := range []struct {
		message string
		fresh   bool
	}{{text, true}, {text, false}, {"no head", true}, {"no head", false}, {"another", true}, {"Message-Id: <1@h>\n\nanother copy", false}} {
		if fresh, err := d.Deliver(strings.NewReader(c.message), time.Time{}); err != nil || fresh != c.fresh {
			t.Errorf("%q: got %v, %v, want %v", c.message, fresh, err, c.fresh)
		}
	}
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
	got := files(t, d)
	if len(got) != 3 || !strings.HasPrefix(got[2], "new/7.") || !strings.HasSuffix(got[2], ".fetch") {
		t.Fatalf("got %q", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, got[2])); err != nil || string(b) != text {
		t.Errorf("got %q, %v", b, err)
	}
	// A mail reader moves a message that was read and appends flags.
	seen := filepath.Join(dir, "cur", filepath.Base(got[2])+":2,S")
	if err := os.Rename(filepath.Join(dir, got[2]), seen); err != nil {
		t.Fatal(err)
	}
	if fresh, err := OpenMaildir(dir).Deliver(strings.NewReader(text), time.Time{}); err != nil || fresh {
		t.Errorf("second delivery: got %v, %v", fresh, err)
	}
	if got := files(t, d); len(got) != 3 || !strings.HasPrefix(got[2], "cur/") {
		t.Errorf("got %q", got)
	}
}

// TestMaildirAtomic tests that a failed delivery leaves no file.
func TestMaildirAtomic(t *testing.T) {
	d := OpenMaildir(t.TempDir())
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	if fresh, err := d.Deliver(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("Subject: x\n\nmore"))), time.Time{}); err == nil || fresh {
		t.Errorf("got %v, %v", fresh, err)
	}
	if _, err := d.Deliver(iotest.ErrReader(fetch.Truncated), time.Time{}); !errors.Is(err, fetch.Truncated) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(d.dir, "*", "*")); len(left) > 0 {
		t.Errorf("files remain: %q", left)
	}
}

// TestMaildirSymlinks tests that a delivery does not follow symbolic links out
// of the directory or out of the given root.
func TestMaildirSymlinks(t *testing.T) {
	for _, linked := range []string{"tmp", "new", "cur"} {
		dir, outside := t.TempDir(), t.TempDir()
		for _, sub := range []string{"tmp", "new", "cur"} {
			if err := os.MkdirAll(filepath.Join(dir, "md", sub), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		err := os.Remove(filepath.Join(dir, "md", linked))
		if err == nil {
			err = os.Symlink(outside, filepath.Join(dir, "md", linked))
		}
		root, open := os.OpenRoot(dir)
		if err = errors.Join(err, open); err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		for name, d := range map[string]*Maildir{"a folder": OpenMaildir(filepath.Join(dir, "md")), "below a root": MaildirIn(root, "md")} {
			err := d.Create()
			if err == nil {
				_, err = d.Deliver(strings.NewReader("Subject: x\n\nbody\n"), time.Time{})
			}
			if err == nil {
				t.Errorf("%s, %s is a link: no error", name, linked)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		if found, err := os.ReadDir(outside); len(found) > 0 || err != nil {
			t.Errorf("%s is a link: %q was written, %v", linked, found, err)
		}
	}
}
