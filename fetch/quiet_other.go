//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package fetch

import "syscall"

// peek reports that the state of the connection is unknown, because this system
// cannot read from a socket without consuming the bytes.
func peek(syscall.RawConn) (quiet, known bool) { return false, false }
