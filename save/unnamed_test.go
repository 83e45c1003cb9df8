//go:build linux

package save

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/fetch"
)

// faultyFS is the file system of a Folder in which single operations fail.
type faultyFS struct {
	system
	create, link, time, sync, syncDir error
	dirSyncs                          atomic.Int64
}

func (f *faultyFS) createUnnamed() (unnamedHandle, error) {
	if f.create != nil {
		return nil, f.create
	}
	h, err := f.system.createUnnamed()
	if err != nil {
		return nil, err
	}
	return &faultyHandle{h, f}, nil
}

func (f *faultyFS) SyncDir(name string) error {
	f.dirSyncs.Add(1)
	return errors.Join(f.syncDir, f.system.SyncDir(name))
}

type faultyHandle struct {
	unnamedHandle
	fs *faultyFS
}

func (h *faultyHandle) link(name string) error {
	if h.fs.link != nil {
		return h.fs.link
	}
	return h.unnamedHandle.link(name)
}

func (h *faultyHandle) setTime(t time.Time) error {
	if h.fs.time != nil {
		return h.fs.time
	}
	return h.unnamedHandle.setTime(t)
}

func (h *faultyHandle) Sync() error { return errors.Join(h.fs.sync, h.unnamedHandle.Sync()) }

// unnamedFolder opens a new folder. It skips the test if the file system has no
// files without names.
func unnamedFolder(t *testing.T) (string, *Folder, *faultyFS) {
	t.Helper()
	dir := t.TempDir()
	folder, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	fsys := &faultyFS{system: folder.fs.(system)}
	h, err := fsys.createUnnamed()
	if err != nil {
		t.Skipf("no files without names: %v", err)
	}
	h.Close()
	folder.fs = fsys
	return dir, folder, fsys
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func mustCreate(t *testing.T, path string, o Options) *File {
	t.Helper()
	f, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustWrite(t *testing.T, f *File, content []byte) {
	t.Helper()
	for chunk := range slices.Chunk(content, 100_000) {
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnnamed checks when a file has a part file, and the file after Commit.
func TestUnnamed(t *testing.T) {
	modified := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, test := range []struct {
		name  string
		o     Options
		size  int64 // for Begin
		bytes int
		part  string // names before Commit
	}{
		{"small", Options{}, 3, 3, ""},
		{"empty", Options{}, 0, 0, ""},
		{"unknown size", Options{}, -1, 1000, ""},
		{"limit", Options{}, maxUnnamed, maxUnnamed, ""},
		{"larger than the limit", Options{}, maxUnnamed + 1, maxUnnamed + 1, ".f.part"},
		{"larger, unknown size", Options{Sum: true}, -1, maxUnnamed + 1, ".f.part"},
		{"resumable", Options{Resume: true, URL: "http://h/"}, 3, 3, ".f.part"},
		{"mode", Options{Mode: 0o604}, 3, 3, ""},
		{"mode, larger", Options{Mode: 0o604}, -1, maxUnnamed + 1, ".f.part"},
		{"no replacement", Options{Existing: Refuse}, 3, 3, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, folder, _ := unnamedFolder(t)
			content := bytes.Repeat([]byte("x"), test.bytes)
			test.o.Folder = folder
			f := mustCreate(t, dir+"/f", test.o)
			if err := f.Begin(State{Size: test.size}); err != nil {
				t.Fatal(err)
			}
			mustWrite(t, f, []byte("other bytes"))
			if err := f.Begin(State{Size: test.size}); err != nil { // starts again
				t.Fatal(err)
			}
			mustWrite(t, f, content)
			f.SetTime(modified)
			if got := names(t, dir); got != test.part {
				t.Errorf("before Commit: %q, want %q", got, test.part)
			}
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := folder.Close(); err != nil {
				t.Error(err)
			}
			got, err := os.ReadFile(dir + "/f")
			if err != nil || !bytes.Equal(got, content) || names(t, dir) != "f" {
				t.Errorf("%d bytes, %v, names %q", len(got), err, names(t, dir))
			}
			info, err := os.Stat(dir + "/f")
			if err != nil {
				t.Fatal(err)
			}
			if want := test.o.Mode; want != 0 && info.Mode() != want || !info.ModTime().Equal(modified) {
				t.Errorf("mode %v, time %v", info.Mode(), info.ModTime())
			}
		})
	}
}

// TestUnnamedMode compares the permissions of a file in a Folder with those of
// another file, also if the folder has an ACL for new files.
func TestUnnamedMode(t *testing.T) {
	// u::rwx, g::r-x, o::--- in the binary form of Linux
	acl := []byte{2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 5, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	for _, withACL := range []bool{false, true} {
		dir, folder, _ := unnamedFolder(t)
		if withACL {
			if err := unix.Setxattr(dir, "system.posix_acl_default", acl, 0); err != nil {
				t.Skipf("no ACL: %v", err)
			}
		}
		for name, size := range map[string]int64{"small": 1, "large": maxUnnamed + 1, "plain": 1} {
			o := Options{Folder: folder}
			if name == "plain" {
				o.Folder = nil
			}
			f := mustCreate(t, filepath.Join(dir, name), o)
			mustWrite(t, f, make([]byte, size))
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		plain, err := os.Stat(dir + "/plain")
		if err != nil || withACL && plain.Mode() != 0o640 {
			t.Fatal(plain, err)
		}
		for _, name := range []string{"small", "large"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != plain.Mode() {
				t.Errorf("ACL %v: %s: %v, %v, want %v", withACL, name, info.Mode(), err, plain.Mode())
			}
		}
		folder.Close()
	}
}

// TestUnnamedExists creates the final name during a download.
func TestUnnamedExists(t *testing.T) {
	for _, test := range []struct {
		name     string
		existing Existing
		fault    fetch.Fault
		want     string // names after Commit
		content  string // of f
	}{
		{"replace", Replace, 0, "f", "new"},
		{"refuse", Refuse, fetch.Exists, "f", "old"},
		{"number", Number, 0, "f f.1", "old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, folder, _ := unnamedFolder(t)
			f := mustCreate(t, dir+"/f", Options{Folder: folder, Existing: test.existing})
			mustWrite(t, f, []byte("new"))
			if err := os.WriteFile(dir+"/f", []byte("old"), 0o604); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir+"/f", 0o604); err != nil {
				t.Fatal(err)
			}
			if err := f.Commit(); test.fault == 0 && err != nil || test.fault != 0 && !errors.Is(err, test.fault) {
				t.Errorf("Commit: %v, want %v", err, test.fault)
			}
			content, err := os.ReadFile(dir + "/f")
			info, _ := os.Stat(dir + "/f")
			if err != nil || string(content) != test.content || names(t, dir) != test.want || info.Mode() != 0o604 {
				t.Errorf("%q, %v, names %q, mode %v", content, err, names(t, dir), info.Mode())
			}
			if test.existing == Number && f.Name() != dir+"/f.1" {
				t.Errorf("Name: %s", f.Name())
			}
			if err := folder.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnnamedFaults lets single operations fail.
func TestUnnamedFaults(t *testing.T) {
	errFault := errors.New("injected")
	for _, test := range []struct {
		name    string
		fault   func(*faultyFS)
		want    error // of Commit; nil if a part file replaces the file without a name
		close   error // of Folder.Close
		content string
	}{
		{"file system without unnamed files", func(f *faultyFS) { f.create = unix.EOPNOTSUPP }, nil, nil, "new"},
		{"no /proc and no privileges", func(f *faultyFS) { f.link = unix.ENOENT }, nil, nil, "new"},
		{"no time", func(f *faultyFS) { f.time = unix.ENOENT }, nil, nil, "new"},
		{"full disk", func(f *faultyFS) { f.link = unix.ENOSPC }, fetch.DiskFull, nil, ""},
		{"bad disk", func(f *faultyFS) { f.link = unix.EIO }, syscall.EIO, nil, ""},
		{"sync", func(f *faultyFS) { f.sync = errFault }, errFault, nil, ""},
		{"sync of the folder", func(f *faultyFS) { f.syncDir = errFault }, nil, errFault, "new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, folder, fsys := unnamedFolder(t)
			test.fault(fsys)
			for range 2 { // the second File may know that the file system lacks something
				os.Remove(dir + "/f")
				f := mustCreate(t, dir+"/f", Options{Folder: folder})
				mustWrite(t, f, []byte("new"))
				f.SetTime(time.Unix(1e9, 0))
				if err := f.Commit(); !errors.Is(err, test.want) {
					t.Errorf("Commit: %v, want %v", err, test.want)
				}
				content, _ := os.ReadFile(dir + "/f")
				if string(content) != test.content {
					t.Errorf("content %q, want %q", content, test.content)
				}
			}
			if err := folder.Close(); !errors.Is(err, test.close) || (err != nil) != (test.close != nil) {
				t.Errorf("Close: %v, want %v", err, test.close)
			}
			if got := names(t, dir); strings.Contains(got, ".part") {
				t.Errorf("left %q", got)
			}
		})
	}
}

// TestFolderSyncs counts the syncs of a folder. A failed sync is reported by the
// Commit that made it, and by Close for all other files.
func TestFolderSyncs(t *testing.T) {
	errFault := errors.New("injected")
	for _, fault := range []error{nil, errFault} {
		dir, folder, fsys := unnamedFolder(t)
		fsys.syncDir = fault
		failed := 0
		for i := range 2*syncEvery + 1 {
			f := mustCreate(t, filepath.Join(dir, numbered("f", i)), Options{Folder: folder})
			mustWrite(t, f, []byte("new"))
			if err := f.Commit(); err != nil {
				failed++
			}
		}
		if n := fsys.dirSyncs.Load(); n != 2 {
			t.Errorf("%d syncs before Close, want 2", n)
		}
		err := folder.Close()
		if n := fsys.dirSyncs.Load(); n != 3 {
			t.Errorf("%d syncs, want 3", n)
		}
		if fault == nil && (failed > 0 || err != nil) || fault != nil && (failed != 2 || !errors.Is(err, fault) || !errors.Is(err, fetch.Local)) {
			t.Errorf("%v: %d failed, Close: %v", fault, failed, err)
		}
	}
}

// TestFolderInUse opens the same file twice.
func TestFolderInUse(t *testing.T) {
	dir, folder, _ := unnamedFolder(t)
	o := Options{Folder: folder}
	first := mustCreate(t, dir+"/f", o)
	if _, err := Create(dir+"/f", o); !errors.Is(err, fetch.InUse) {
		t.Errorf("the same Folder: %v", err)
	}
	numbers := o
	numbers.Existing = Number
	second := mustCreate(t, dir+"/f", numbers)
	if second.Name() != dir+"/f.1" {
		t.Errorf("numbered: %s", second.Name())
	}
	other := mustCreate(t, dir+"/other", Options{}) // has a part file, like a large file of another process
	later, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir+"/other", Options{Folder: later}); !errors.Is(err, fetch.InUse) {
		t.Errorf("a part file of another process: %v", err)
	}
	later.Close()
	other.Close()
	for _, f := range []*File{first, second} {
		mustWrite(t, f, []byte("new"))
		if err := f.Commit(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"f", "other"} { // the names are free again
		f := mustCreate(t, filepath.Join(dir, name), o)
		f.Close()
	}
	if len(folder.writing) > 0 {
		t.Errorf("reserved: %v", folder.writing)
	}
}

// TestUnnamedMovesToUsedPart checks that a file that needs a part file does not
// damage the part file of another process.
func TestUnnamedMovesToUsedPart(t *testing.T) {
	dir, folder, _ := unnamedFolder(t)
	f := mustCreate(t, dir+"/f", Options{Folder: folder})
	mustWrite(t, f, []byte("small"))
	resumable := mustCreate(t, dir+"/f", Options{URL: "http://h/", Resume: true}) // as another process would
	if err := resumable.Begin(State{Validator: "v", Size: -1}); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, resumable, []byte("part"))
	if err := f.Begin(State{Size: -1}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, maxUnnamed+1)); !errors.Is(err, fetch.InUse) {
		t.Errorf("Write: %v, want fetch.InUse", err)
	}
	f.Close()
	if err := resumable.Close(); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); got != ".f.part .f.part.state" {
		t.Errorf("names %q", got)
	}
	if len(folder.writing) > 0 {
		t.Errorf("reserved: %v", folder.writing)
	}
}
