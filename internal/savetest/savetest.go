// Package savetest breaks file systems for the tests of programs that save
// files. Sweep is what to call; an FS alone counts and logs.
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

// An Op is one operation on a file system.
type Op struct {
	Verb string // "open", "write", "sync", "rename", ...
	Name string // of the file; that of the old name in a rename
}

// String is short, for messages.
func (op Op) String() string { return op.Verb + " " + filepath.Base(op.Name) }

// A Fault is how an operation goes wrong.
type Fault struct {
	Name string
	Err  error // of this one operation
	Half bool  // a write writes half of its bytes first
	Kill bool  // the process ends: nothing is done any more, and locks are freed
	Done bool  // after the operation was done, for Kill
}

// Faults are those that Sweep tries.
func Faults() []Fault {
	return []Fault{
		{Name: "EIO", Err: syscall.EIO},
		{Name: "ENOSPC", Err: syscall.ENOSPC},
		{Name: "half a write", Err: syscall.ENOSPC, Half: true},
		{Name: "killed before", Err: ErrKilled, Kill: true},
		{Name: "killed after", Err: ErrKilled, Kill: true, Done: true},
	}
}

// ErrKilled is what the operations of a killed process return.
var ErrKilled = errors.New("killed")

// An FS passes operations on to the system's file system and counts them. At
// the operation of number At, counted from 1, it lets Fault happen. It is
// safe for concurrent use.
type FS struct {
	At    int
	Fault Fault

	mu     sync.Mutex
	ops    []Op
	open   map[*handle]bool
	killed bool
}

// Ops returns the operations so far, the failed ones included.
func (f *FS) Ops() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// Open returns the number of files that are open.
func (f *FS) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open)
}

// Killed reports whether the process has ended.
func (f *FS) Killed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.killed
}

// Sweep calls run with a sound FS to count its operations, then once for each
// of them and each of Faults, or for a quarter of the pairs with -short. run says what must hold: it prepares its own
// folder, and knows from fs.Fault.Err whether anything may fail at all.
func Sweep(t *testing.T, run func(t *testing.T, fs *FS)) {
	t.Helper()
	sound := &FS{}
	if !t.Run("sound", func(t *testing.T) { run(t, sound) }) {
		return
	}
	stride := 1
	if testing.Short() {
		stride = 4
	}
	for n, fault := range Faults() {
		for i, op := range sound.Ops() {
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

// do is one operation.
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

// kill does what the kernel does for a process that ends.
func (f *FS) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = true
	for h := range maps.Keys(f.open) {
		h.Handle.Close()
	}
	f.open = nil
}

// The methods of save.FS.

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

// SyncDir does not write to the disk, because no test cuts the power.
func (f *FS) SyncDir(name string) error { return f.do("syncdir", name, func() error { return nil }) }
