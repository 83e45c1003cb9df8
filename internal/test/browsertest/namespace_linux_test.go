package browsertest

import (
	"os"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestNewNamespace checks that the thread of the caller keeps its own network
// namespace. The thread must not be used up, because servers end with the thread
// that started them.
func TestNewNamespace(t *testing.T) {
	peer.NeedRoot(t, "network namespaces")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := namespaceOf(t, ownNamespace)
	path, err := newNamespace(t, []string{"127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if after := namespaceOf(t, ownNamespace); after != before {
		t.Errorf("the thread moved from %s to %s", before, after)
	}
	if inside := namespaceOf(t, path); inside == before {
		t.Errorf("%s is the namespace of the test", path)
	}
}

// namespaceOf returns the identity of a namespace.
func namespaceOf(t *testing.T, path string) string {
	t.Helper()
	name, err := os.Readlink(path)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
