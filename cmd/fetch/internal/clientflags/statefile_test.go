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
