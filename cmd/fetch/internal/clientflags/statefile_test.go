package clientflags

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/save"
)

// TestStateFileTogether checks that several updates at once all get into the file.
func TestStateFileTogether(t *testing.T) {
	f := stateFile{name: filepath.Join(t.TempDir(), "state"), enabled: true}
	synctest.Test(t, func(t *testing.T) { // the time passes only while all updates wait
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				var text []byte
				parse := func(r io.Reader) (err error) {
					text, err = io.ReadAll(r)
					return err
				}
				format := func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%sline %d\n", text, i)
					return err
				}
				note := func(format string, args ...any) { t.Errorf("%d: note "+format, append([]any{i}, args...)...) }
				if err := f.update(parse, format, note); err != nil {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
	b, err := os.ReadFile(f.name)
	if n := bytes.Count(b, []byte("\n")); err != nil || n != 12 {
		t.Errorf("%d lines, %v", n, err)
	}
}

// TestStateFileBusy checks that a file that stays locked is a note, and that an
// error of the parser leaves the file as it was.
func TestStateFileBusy(t *testing.T) {
	f := stateFile{name: filepath.Join(t.TempDir(), "state"), enabled: true}
	if err := os.WriteFile(f.name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	format := func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		other, err := save.Create(f.name, save.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		var notes []string
		note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
		start := time.Now()
		err = f.update(func(io.Reader) error { return nil }, format, note)
		if took := time.Since(start); err != nil || took != stateWait || len(notes) != 1 || !strings.Contains(notes[0], "another process") {
			t.Errorf("got %v and %q after %v", err, notes, took)
		}
	})
	cut := errors.New("not read completely")
	if err := f.update(func(io.Reader) error { return cut }, format, nil); !errors.Is(err, cut) {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(f.name); err != nil || string(b) != "old" {
		t.Errorf("the file has %q, %v", b, err)
	}
}

// TestStateFileLink checks that a link that leads to the file of another user is not
// followed, even if it is replaced while the file is locked.
func TestStateFileLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs files of two users")
	}
	dir := t.TempDir()
	own, foreign := filepath.Join(dir, "own"), filepath.Join(dir, "foreign")
	f := stateFile{name: filepath.Join(dir, "link"), enabled: true}
	err := errors.Join(os.WriteFile(own, []byte("own"), 0o600), os.WriteFile(foreign, []byte("foreign"), 0o600), os.Chown(foreign, 65534, 65534),
		os.Symlink("own", f.name))
	if err != nil {
		t.Fatal(err)
	}
	format := func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		other, err := save.Create(own, save.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result := make(chan error)
		go func() { result <- f.update(func(io.Reader) error { return nil }, format, nil) }()
		synctest.Wait() // until update waits for the lock
		if err := errors.Join(os.Remove(f.name), os.Symlink("foreign", f.name), other.Close()); err != nil {
			t.Fatal(err)
		}
		if err := <-result; err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("got %v", err)
		}
	})
	for name, want := range map[string]string{own: "own", foreign: "foreign"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
	err = errors.Join(os.Remove(f.name), os.Symlink("own", f.name))
	if err = errors.Join(err, f.update(func(io.Reader) error { return nil }, format, nil)); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(own); err != nil || string(b) != "new" {
		t.Errorf("own link: %q, %v", b, err)
	}
}
