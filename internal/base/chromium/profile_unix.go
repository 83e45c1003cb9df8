//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package chromium

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockName is the name of the symbolic link with which Chromium locks a profile. Its
// target has the form HOST-PROCESS.
const lockName = "SingletonLock"

// checkUnused returns an error if a running browser has locked the profile. The
// lock of a browser that was killed has no effect.
func checkUnused(dir string) error {
	target, err := os.Readlink(filepath.Join(dir, lockName))
	if err != nil {
		return nil
	}
	end := strings.LastIndexByte(target, '-')
	pid, err := strconv.Atoi(target[end+1:])
	if end < 0 || err != nil || pid <= 0 {
		return nil
	}
	host := target[:end]
	if own, err := os.Hostname(); err == nil && host == own && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil
	}
	return fmt.Errorf("profile %s is in use by process %d on %s: close that browser, or remove the file %s if it does not run",
		dir, pid, host, lockName)
}
