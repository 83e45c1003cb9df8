//go:build !linux

package fetch

// acknowledge does nothing, because this system has no option TCP_QUICKACK.
func acknowledge(uintptr) {}
