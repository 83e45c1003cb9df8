//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package save

import (
	"errors"
	"io/fs"
	"os"
)

// This system has no flock, so a process owns a part file only if it created
// the file. If a killed process leaves a part file, the user must remove it.

const (
	noFollow          = 0
	nonBlock          = 0
	canRenameOpenFile = false
)

// system is the file system of the operating system.
type system struct{ name string }

func openSystem(folder string) (system, error) { return system{folder}, nil }

func (system) close() error { return nil }

func (system) OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return handle{f}, nil
}

func (system) Lstat(name string) (Info, error) { return infoOf(os.Lstat(name)) }
func (system) Rename(from, to string) error    { return os.Rename(from, to) }
func (system) Remove(name string) error        { return os.Remove(name) }
func (system) SyncDir(string) error            { return nil }

// handle is an open file.
type handle struct{ *os.File }

func (h handle) Stat() (Info, error) { return infoOf(h.File.Stat()) }
func (handle) Lock() error           { return errors.ErrUnsupported }

// identity identifies a file regardless of its name.
type identity struct{ info fs.FileInfo }

func infoOf(i fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{i.Mode(), i.Size(), i.ModTime(), identity{i}}, nil
}

func (i Info) same(j Info) bool { return os.SameFile(i.info, j.info) }

func isOwnPart(i Info) bool { return i.Mode.IsRegular() }

func isTrustedLink(link, folder Info) bool { return true }

func parseDescriptor(string) (int, bool) { return 0, false }

func openDescriptor(int, string) (Handle, error) { return nil, errors.ErrUnsupported }
