//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package fetch

import "syscall"

// peek always returns false, because it is not implemented on this system.
func peek(syscall.RawConn) (quiet, known bool) { return false, false }
