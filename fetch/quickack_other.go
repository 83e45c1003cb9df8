//go:build !linux

package fetch

import "syscall"

// acknowledge has no counterpart here.
func acknowledge(syscall.RawConn) {}
