package save

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

// A target is the file, device, pipe or socket at a path.
type target struct {
	path   string // with symbolic links followed
	exists bool
	info   Info
	device bool // a device, a pipe or a socket, which is written directly
}

const maxLinks = 40 // the same limit as in the Linux kernel

// resolve follows symbolic links in the last element of a path. The kernel
// follows links in the folders of the path.
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
			return target{}, fetch.Local.Errorf("%s is a link of another user in a world-writable folder", path)
		}
		link, err := fsys.Readlink(path)
		if err != nil {
			return target{}, err
		}
		if filepath.IsAbs(link) {
			path = link
		} else {
			path = dir + link // filepath.Join would remove x/.. even if x is a link
		}
	}
	return target{}, &fs.PathError{Op: "open", Path: first, Err: syscall.ELOOP}
}

func isDirectory(path string) error {
	return &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
}

// split splits a path into its folder and its last element. The folder ends in
// a separator, so that a link to a folder is followed.
func split(path string) (dir, base string) {
	dir, base = filepath.Split(path)
	if dir == "" {
		dir = "." + string(filepath.Separator)
	}
	return dir, base
}

// checkWritable returns an error if the file at path is read-only, because such
// a file must not be replaced. The file of a running program can be replaced.
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

// openDevice opens a device, a pipe or a socket for writing. If t is a pipe,
// openDevice waits until another process opens the pipe for reading.
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
