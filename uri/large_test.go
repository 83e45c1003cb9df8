//go:build linux && (amd64 || arm64)

package uri

import (
	"syscall"
	"testing"
	"unsafe"
)

// TestTooLong: what offsets of 32 bits cannot reach is refused before it is read
// or copied. The strings are address space alone: touching them would cost 4 GiB.
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
			t.Errorf("%d bytes are taken", n)
		}
	}
	if _, err := Build(Parts{Path: s[:size/2], Query: s[:size/2]}); err == nil {
		t.Error("parts of 4 GiB together are taken")
	}
}
