//go:build !linux

package fetch

import "syscall"

// acknowledge does nothing on this system.
func acknowledge(syscall.RawConn) {}
