package save_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

const (
	old  = "what was there before"
	body = "the body that is saved"
	url  = "http://example.com/out"
)

// folder returns a folder with a file "out" of the given content, or an empty
// one.
func folder(t *testing.T, content string) (dir, out string) {
	t.Helper()
	dir = t.TempDir()
	out = filepath.Join(dir, "out")
	if content != "" {
		write(t, out, content, 0o644)
	}
	return dir, out
}

func write(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// content returns the content of a file, or "" if the file does not exist.
func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return string(text)
}

// names returns the names in dir.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func create(t *testing.T, path string, o save.Options) *save.File {
	t.Helper()
	f, err := save.Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func wantFault(t *testing.T, err error, want fetch.Fault) {
	t.Helper()
	if got := fetch.FaultOf(err); err == nil || got != want {
		t.Errorf("got error %v of class %v, want class %v", err, got, want)
	}
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	if got := content(t, path); got != want {
		t.Errorf("%s holds %.60q (%d bytes), want %.60q (%d bytes)", filepath.Base(path), got, len(got), want, len(want))
	}
}

func wantNames(t *testing.T, dir, want string) {
	t.Helper()
	if got := names(t, dir); got != want {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// finish writes text in pieces and commits.
func finish(t *testing.T, f *save.File, text string) {
	t.Helper()
	for piece := range slices.Chunk([]byte(text), 7) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestCommit(t *testing.T) {
	for _, before := range []string{"", old} {
		dir, out := folder(t, before)
		f := create(t, out, save.Options{})
		if _, err := io.Copy(f, strings.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		wantContent(t, out, before)
		wantContent(t, filepath.Join(dir, ".out.part"), body)
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		wantContent(t, out, body)
		wantNames(t, dir, "out")
		if f.Name() != out {
			t.Errorf("Name() = %q, want %q", f.Name(), out)
		}
		if err := f.Close(); err != nil {
			t.Errorf("Close after Commit: %v", err)
		}
		_, err := f.Write([]byte("x"))
		wantFault(t, err, fetch.Usage)
		wantFault(t, f.Commit(), fetch.Usage)
	}
}

func TestCommitEmpty(t *testing.T) {
	_, out := folder(t, old)
	finish(t, create(t, out, save.Options{}), "")
	if info, err := os.Stat(out); err != nil || info.Size() != 0 {
		t.Errorf("got %v, %v, want an empty file", info, err)
	}
}

func TestClose(t *testing.T) {
	for _, before := range []string{"", old} {
		dir, out := folder(t, before)
		f := create(t, out, save.Options{})
		if _, err := f.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		wantContent(t, out, before)
		if want := map[string]string{"": "", old: "out"}[before]; names(t, dir) != want {
			t.Errorf("left %q", names(t, dir))
		}
	}
}

// TestCommitSize checks that a body of an unexpected length is not published.
func TestCommitSize(t *testing.T) {
	for _, test := range []struct {
		size  int64
		fault fetch.Fault
	}{
		{-1, 0},
		{int64(len(body)), 0},
		{int64(len(body)) + 1, fetch.Truncated},
		{int64(len(body)) - 1, fetch.Mismatch},
		{0, fetch.Mismatch},
	} {
		dir, out := folder(t, old)
		f := create(t, out, save.Options{})
		if err := f.Begin(save.State{Size: test.size}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); test.fault != 0 {
			wantFault(t, err, test.fault)
			wantContent(t, out, old)
		} else if err != nil {
			t.Errorf("size %d: %v", test.size, err)
		}
		wantNames(t, dir, "out")
	}
}

func TestExisting(t *testing.T) {
	dir, out := folder(t, old)
	busy := create(t, out, save.Options{})
	_, err := save.Create(out, save.Options{Existing: save.Refuse})
	wantFault(t, err, fetch.Exists) // even while another File writes it
	busy.Close()

	f := create(t, out, save.Options{Existing: save.Number})
	g := create(t, out, save.Options{Existing: save.Number}) // .2, because .1 is being written
	finish(t, f, body)
	finish(t, g, body+"2")
	if f.Name() != out+".1" || g.Name() != out+".2" {
		t.Errorf("got %s and %s", f.Name(), g.Name())
	}
	wantNames(t, dir, "out out.1 out.2")
	wantContent(t, out, old)
	wantContent(t, out+".1", body)
	wantContent(t, out+".2", body+"2")

	for n := 3; n <= 100; n++ {
		finish(t, create(t, out, save.Options{Existing: save.Number}), "x")
	}
	_, err = save.Create(out, save.Options{Existing: save.Number})
	wantFault(t, err, fetch.Exists)
}

// TestExistingRace checks a file that another process creates after Create.
func TestExistingRace(t *testing.T) {
	dir, out := folder(t, "")
	f := create(t, out, save.Options{Existing: save.Refuse})
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	write(t, out, old, 0o644)
	wantFault(t, f.Commit(), fetch.Exists)
	wantContent(t, out, old)
	wantNames(t, dir, "out")

	dir, out = folder(t, "")
	_, err := save.Create(out, save.Options{Existing: save.Refuse, FS: meanwhile{save.System(), func() { write(t, out, old, 0o644) }}})
	wantFault(t, err, fetch.Exists)
	wantNames(t, dir, "out")

	dir, out = folder(t, "")
	f = create(t, out, save.Options{Existing: save.Number})
	write(t, out, old, 0o644)
	write(t, out+".1", old, 0o644)
	finish(t, f, body)
	if f.Name() != out+".2" {
		t.Errorf("got %s", f.Name())
	}
	wantNames(t, dir, "out out.1 out.2")
}

// meanwhile is a file system that calls a function before the first file is
// opened.
type meanwhile struct {
	save.FS
	happens func()
}

func (m meanwhile) OpenFile(name string, flag int, perm fs.FileMode) (save.Handle, error) {
	m.happens()
	return m.FS.OpenFile(name, flag, perm)
}

func TestInUse(t *testing.T) {
	dir, out := folder(t, old)
	f := create(t, out, save.Options{})
	for _, o := range []save.Options{{}, {Resume: true, URL: url}} {
		_, err := save.Create(out, o)
		wantFault(t, err, fetch.InUse)
	}
	finish(t, f, body)
	finish(t, create(t, out, save.Options{}), body+"2")
	wantContent(t, out, body+"2")
	wantNames(t, dir, "out")
}

func TestMode(t *testing.T) {
	for _, test := range []struct {
		name   string
		before fs.FileMode // 0 means no file
		option fs.FileMode
		want   fs.FileMode
	}{
		{"private stays private", 0o600, 0, 0o600},
		{"a program stays one", 0o755, 0, 0o755},
		{"no set-user-id bit", 0o755 | fs.ModeSetuid, 0, 0o755},
		{"read by a group", 0o640, 0, 0o640},
		{"as asked", 0o600, 0o644, 0o644},
		{"as asked, new", 0, 0o640, 0o640},
	} {
		dir, out := folder(t, "")
		if test.before != 0 {
			write(t, out, old, test.before)
		}
		f := create(t, out, save.Options{Mode: test.option})
		if info, err := os.Stat(filepath.Join(dir, ".out.part")); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: the part is %v, %v, want 0600", test.name, info.Mode(), err)
		}
		finish(t, f, body)
		if info, err := os.Stat(out); err != nil || info.Mode() != test.want {
			t.Errorf("%s: got %v, %v, want %v", test.name, info.Mode(), err, test.want)
		}
	}
}

// TestModeChanged checks that the new file gets the mode that the replaced file
// has at the time of Commit.
func TestModeChanged(t *testing.T) {
	for _, before := range []string{"", old} {
		dir, out := folder(t, before)
		f := create(t, out, save.Options{})
		write(t, out, old, 0o600)
		finish(t, f, body)
		if info, err := os.Stat(out); err != nil || info.Mode() != 0o600 {
			t.Errorf("got %v, %v, want 0600", info.Mode(), err)
		}
		wantContent(t, out, body)
		wantNames(t, dir, "out")
	}
}

// TestNoRenameNew uses a file system that does not support RenameNew.
func TestNoRenameNew(t *testing.T) {
	dir, out := folder(t, "")
	finish(t, create(t, out, save.Options{FS: replacing{save.System()}}), body)
	wantContent(t, out, body)
	wantNames(t, dir, "out")
}

type replacing struct{ save.FS }

func (replacing) RenameNew(from, to string) error { return errors.ErrUnsupported }

func TestSetTime(t *testing.T) {
	past := time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)
	for _, test := range []struct {
		name  string
		time  time.Time
		taken bool
	}{
		{"past", past, true},
		{"1970", time.Unix(0, 0), true},
		{"in an hour", time.Now().Add(time.Hour).Truncate(time.Second), true},
		{"before 1970", time.Unix(-1, 0), false},
		{"in two days", time.Now().Add(48 * time.Hour), false},
		{"none", time.Time{}, false},
	} {
		_, out := folder(t, "")
		f := create(t, out, save.Options{})
		f.SetTime(test.time)
		finish(t, f, body)
		info, err := os.Stat(out)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().Equal(test.time) != test.taken || !test.taken && time.Since(info.ModTime()).Abs() > time.Hour {
			t.Errorf("%s: file of %v, asked for %v", test.name, info.ModTime(), test.time)
		}
	}
}

// TestLeftoverMode checks that the file that a killed process created to find the
// permissions of new files is removed, also if the permissions are known.
func TestLeftoverMode(t *testing.T) {
	dir := t.TempDir()
	all := []string{"one", "two"}
	for _, name := range all {
		for _, suffix := range []string{".part", ".part.new"} {
			if err := os.WriteFile(filepath.Join(dir, "."+name+suffix), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder, err := save.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, name := range all {
		f, err := save.Create(filepath.Join(dir, name), save.Options{Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := filepath.Glob(filepath.Join(dir, ".*")); len(found) > 0 || err != nil {
		t.Errorf("files %q, %v", found, err)
	}
}
