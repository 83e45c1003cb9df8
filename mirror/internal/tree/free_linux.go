package tree

import (
	"github.com/anyurl/fetch/fetch"
	"golang.org/x/sys/unix"
)

// Free returns the number of free bytes on the file system of the archive. If
// the number is unknown, the error wraps errors.ErrUnsupported.
func (s *Store) Free() (int64, error) {
	var st unix.Statfs_t
	err := withDescriptor(s.tmp.dir, func(fd int) error { return unix.Fstatfs(fd, &st) })
	if err != nil {
		return 0, fetch.LocalError(err)
	}
	return int64(st.Bavail) * st.Frsize, nil
}
