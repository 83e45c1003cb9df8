//go:build !linux

package fetch

import "syscall"

// acknowledge does nothing, because this system has no option TCP_QUICKACK.
func acknowledge(syscall.RawConn) {}
