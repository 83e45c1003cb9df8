package localfile

import (
	"io/fs"
	"os"

	"github.com/anyurl/fetch/fetch"
)

// open opens a regular file or a directory. Opening a device can have side
// effects, such as starting a watchdog timer, so open checks the file type
// first. It checks the type again after opening, because the file could have
// been replaced. The flag noWait prevents the system call from blocking on a
// named pipe.
func (d *driver) open(p Place) (*os.File, fs.FileInfo, error) {
	info, err := d.stat(p)
	if err != nil {
		return nil, nil, fault(err)
	}
	if err := checkType(info); err != nil {
		return nil, nil, err
	}
	f, err := d.openFile(p)
	if err != nil {
		return nil, nil, fault(err)
	}
	info, err = f.Stat()
	switch {
	case err != nil:
		err = fault(err)
	case p.dir && !info.IsDir():
		err = fetch.NotFound.Errorf("not a directory")
	default:
		err = checkType(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (d *driver) openFile(p Place) (*os.File, error) {
	open := func(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|noWait, 0) }
	return access(d, p, open, func(r *os.Root, name string) (*os.File, error) {
		return r.OpenFile(name, os.O_RDONLY|noWait, 0)
	})
}

func (d *driver) stat(p Place) (fs.FileInfo, error) { return access(d, p, os.Stat, (*os.Root).Stat) }

func (d *driver) readlink(p Place) (string, error) {
	return access(d, p, os.Readlink, (*os.Root).Readlink)
}

// access calls inRoot with the name of a file in the root directory of d, or
// local if all files are permitted.
func access[T any](
	d *driver, p Place, local func(name string) (T, error), inRoot func(r *os.Root, name string) (T, error),
) (result T, err error) {
	if d.root != nil {
		return inRoot(d.root, p.inRoot())
	}
	name, err := p.local()
	if err != nil {
		return result, err
	}
	return local(name)
}

func checkType(info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return refusal("neither a regular file nor a directory", typeOf(info.Mode()))
}

// typeOf returns the name of a special file type, such as "named pipe".
func typeOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeCharDevice != 0:
		return "character device"
	case m&fs.ModeDevice != 0:
		return "block device"
	}
	return "special file"
}
