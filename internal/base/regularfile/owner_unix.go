//go:build unix

package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// IsOwn reports whether a file belongs to the user of this process. A missing
// file does.
func IsOwn(name string) (bool, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid(), nil
}
