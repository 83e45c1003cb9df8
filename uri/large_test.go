//go:build linux && (amd64 || arm64)

package uri

import (
	"syscall"
	"testing"
	"unsafe"
)

// TestTooLong verifies that strings too long for 32-bit offsets are rejected
// before they are read or copied. The strings only reserve address space.
// Reading them would need 4 GiB of memory.
func TestTooLong(t *testing.T) {
	const size = 1 << 32
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skip("no address space: ", err)
	}
	defer syscall.Munmap(b)
	s := unsafe.String(unsafe.SliceData(b), size)
	for _, n := range []int{size, size - 1} {
		if _, err := ParseZone(s[:n]); err == nil {
			t.Errorf("a string of %d bytes is accepted", n)
		}
	}
	if _, err := Build(Parts{Path: s[:size/2], Query: s[:size/2]}); err == nil {
		t.Error("Parts of 4 GiB in total are accepted")
	}
}
