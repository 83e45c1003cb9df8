package download

import "golang.org/x/sys/unix"

// setAttribute sets an extended attribute of a file. It does not follow a
// symbolic link.
func setAttribute(file, name, value string) error {
	return unix.Lsetxattr(file, name, []byte(value), 0)
}
