package uri

import (
	"testing"
	"unsafe"
)

func TestSize(t *testing.T) {
	if n := unsafe.Sizeof(URI{}); n != 48 {
		t.Errorf("a URI is %d bytes, want 48", n)
	}
}
