package tree

import "golang.org/x/sys/unix"

// Free returns how many bytes are left to us on the file system of the
// archive; errors.ErrUnsupported where nobody can tell.
func (s *Store) Free() (int64, error) {
	var st unix.Statfs_t
	err := within(s.tmp.dir, func(fd int) error { return unix.Fstatfs(fd, &st) })
	if err != nil {
		return 0, local(err)
	}
	return int64(st.Bavail) * st.Frsize, nil
}
