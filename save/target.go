package save

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

// A target is what a path leads to.
type target struct {
	path   string // symbolic links followed
	exists bool
	info   Info
	device bool // neither a file nor a directory: written to as it is
}

const maxLinks = 40 // as the Linux kernel has it

// resolve follows the symbolic links at the end of path one by one. Those in
// its folders are the kernel's business.
func resolve(fsys FS, path string) (target, error) {
	if path == "" {
		return target{}, fetch.Usage.Errorf("no file name")
	}
	first := path
	for range maxLinks {
		if _, ok := parseDescriptor(path); ok {
			return target{path: path, device: true}, nil
		}
		dir, base := split(path)
		if base == "" {
			return target{}, isDirectory(path)
		}
		info, exists, err := lstatIfExists(fsys, path)
		if err != nil {
			return target{}, err
		}
		if !exists {
			return target{path: path}, nil
		}
		switch info.Mode.Type() {
		case 0:
			return target{path: path, exists: true, info: info}, nil
		case fs.ModeDir:
			return target{}, isDirectory(path)
		case fs.ModeSymlink:
		default:
			return target{path: path, device: true}, nil
		}
		folder, err := fsys.Lstat(dir)
		if err != nil {
			return target{}, err
		}
		if !isTrustedLink(info, folder) {
			return target{}, fetch.Local.Errorf("%s is a link of another user in a folder open to all", path)
		}
		link, err := fsys.Readlink(path)
		if err != nil {
			return target{}, err
		}
		if filepath.IsAbs(link) {
			path = link
		} else {
			path = dir + link // not filepath.Join, which takes x/.. for nothing even if x is a link
		}
	}
	return target{}, &fs.PathError{Op: "open", Path: first, Err: syscall.ELOOP}
}

func isDirectory(path string) error {
	return &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
}

// split parts a path into its folder, which ends in a separator so that a
// link to a folder stands for the folder, and its last name.
func split(path string) (dir, base string) {
	dir, base = filepath.Split(path)
	if dir == "" {
		dir = "." + string(filepath.Separator)
	}
	return dir, base
}

// writable reports an error if the file at path may not be written: a
// read-only file is not replaced either, though its folder would let us. A
// program that is running may be.
func checkWritable(fsys FS, path string) error {
	h, err := fsys.OpenFile(path, os.O_WRONLY|nonBlock, 0)
	if errors.Is(err, syscall.ETXTBSY) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.Close()
}

// openDevice opens what is not a file. A pipe waits for its reader here.
func (f *File) openDevice(t target) (err error) {
	f.path, f.device = t.path, true
	f.state = State{URL: maskUserinfo(f.o.URL), Offset: f.o.Offset, Size: -1}
	if fd, ok := parseDescriptor(t.path); ok {
		f.h, err = openDescriptor(fd, t.path)
	} else {
		f.h, err = f.fs.OpenFile(t.path, os.O_WRONLY, 0)
	}
	return err
}
