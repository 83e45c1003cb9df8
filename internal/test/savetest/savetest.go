// Package savetest provides a file system whose operations fail on request, for
// tests. [Sweep] makes each operation of a test fail once. A zero [FS] only
// records operations.
package savetest

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/save"
)

// An Op is an operation on a file system.
type Op struct {
	Verb string // "open", "write", "sync", "rename", ...
	Name string // name of the file; the old name for a rename
}

// String returns the verb and the base name of the file, for test messages.
func (op Op) String() string { return op.Verb + " " + filepath.Base(op.Name) }

// A Fault is a way in which an operation fails.
type Fault struct {
	Name string
	Err  error // returned by the operation
	Half bool  // if true, a write first writes half of its bytes
	Kill bool  // if true, simulate a killed process: further operations fail, and locks are released
	Done bool  // if true, the operation is performed before Kill applies
}

// Faults returns all faults of a file system that [Sweep] simulates.
func Faults() []Fault {
	return []Fault{
		{Name: "EIO", Err: syscall.EIO},
		{Name: "ENOSPC", Err: syscall.ENOSPC},
		{Name: "half a write", Err: syscall.ENOSPC, Half: true},
		{Name: "killed before", Err: ErrKilled, Kill: true},
		{Name: "killed after", Err: ErrKilled, Kill: true, Done: true},
	}
}

// ErrKilled is returned by the operations of a killed process.
var ErrKilled = errors.New("killed")

// An FS is a save.FS that records operations and forwards them to save.System.
// Operation number At, counted from 1, fails with Fault. If At is zero, no
// operation fails. An FS is safe for concurrent use.
type FS struct {
	At    int
	Fault Fault

	mu     sync.Mutex
	ops    []Op
	open   map[*handle]bool
	killed bool
}

// Ops returns the operations so far, including the operation that failed.
func (f *FS) Ops() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// Open returns the number of open files.
func (f *FS) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open)
}

// Killed reports whether a Fault with Kill has ended the process.
func (f *FS) Killed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.killed
}

// Sweep calls run in subtests. The first call uses an FS that does not fail. In
// each further call, one operation of the first call fails with one of
// [Faults]. With -short, Sweep tests a quarter of these combinations. The
// function run prepares its own folder and checks the result. It may expect an
// error only if fs.Fault.Err is not nil.
func Sweep(t *testing.T, run func(t *testing.T, fs *FS)) {
	t.Helper()
	intact := &FS{}
	if !t.Run("without a fault", func(t *testing.T) { run(t, intact) }) {
		return
	}
	stride := 1
	if testing.Short() {
		stride = 4
	}
	for n, fault := range Faults() {
		for i, op := range intact.Ops() {
			if fault.Half && op.Verb != "write" || i%stride != n%stride {
				continue
			}
			t.Run(fault.Name+" at "+op.Verb, func(t *testing.T) {
				fsys := &FS{At: i + 1, Fault: fault}
				run(t, fsys)
				if n := fsys.Open(); n > 0 {
					t.Errorf("%d files left open", n)
				}
				if t.Failed() {
					t.Logf("operations: %v", fsys.Ops())
				}
			})
		}
	}
}

// do records an operation and runs op. If the operation has the number At, do
// makes it fail with Fault.
func (f *FS) do(verb, name string, op func() error) error {
	f.mu.Lock()
	if f.killed {
		f.mu.Unlock()
		return ErrKilled
	}
	f.ops = append(f.ops, Op{verb, name})
	now := len(f.ops) == f.At
	f.mu.Unlock()
	if !now {
		return op()
	}
	if f.Fault.Done {
		op()
	}
	if f.Fault.Kill {
		f.kill()
		return ErrKilled
	}
	return &fs.PathError{Op: verb, Path: name, Err: f.Fault.Err}
}

// kill closes all files, as the kernel does for a process that ends.
func (f *FS) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = true
	for h := range maps.Keys(f.open) {
		h.Handle.Close()
	}
	f.open = nil
}

// The following methods implement save.FS.

func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (save.Handle, error) {
	var opened *handle
	err := f.do("open", name, func() error {
		h, err := save.System().OpenFile(name, flag, perm)
		if err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		opened = &handle{h, f, name}
		if f.open == nil {
			f.open = make(map[*handle]bool)
		}
		f.open[opened] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (f *FS) Lstat(name string) (info save.Info, err error) {
	err = f.do("lstat", name, func() error { info, err = save.System().Lstat(name); return err })
	return info, err
}

func (f *FS) Readlink(name string) (link string, err error) {
	err = f.do("readlink", name, func() error { link, err = save.System().Readlink(name); return err })
	return link, err
}

func (f *FS) Rename(from, to string) error {
	return f.do("rename", from, func() error { return save.System().Rename(from, to) })
}

func (f *FS) RenameNew(from, to string) error {
	return f.do("renamenew", from, func() error { return save.System().RenameNew(from, to) })
}

func (f *FS) Remove(name string) error {
	return f.do("remove", name, func() error { return save.System().Remove(name) })
}

func (f *FS) Chtimes(name string, mtime time.Time) error {
	return f.do("chtimes", name, func() error { return save.System().Chtimes(name, mtime) })
}

// SyncDir does not write to the disk, because no test simulates a power
// failure.
func (f *FS) SyncDir(name string) error { return f.do("syncdir", name, func() error { return nil }) }
