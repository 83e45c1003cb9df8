//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package save

import (
	"errors"
	"io/fs"
	"os"
)

// Without flock a part is exclusive only because it was newly created: one
// that a killed process left must be removed by hand.

const (
	noFollow    = 0
	nonBlock    = 0
	renamesOpen = false
)

func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

func remove(name string) error { return os.Remove(name) }

func (handle) Lock() error { return errors.ErrUnsupported }

func (system) SyncDir(string) error { return nil }

func ours(info fs.FileInfo) bool { return info.Mode().IsRegular() }

func trusted(link, folder fs.FileInfo) bool { return true }

func descriptor(string) (int, bool) { return 0, false }

func openDescriptor(int, string) (Handle, error) { return nil, errors.ErrUnsupported }
