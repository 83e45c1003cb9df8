package localfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// asUser runs test with the file system permissions of an ordinary user,
// because root can read all files.
func asUser(t *testing.T, test func()) {
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		syscall.Setfsuid(65534) // always succeeds
		defer syscall.Setfsuid(0)
	}
	test()
}

func TestDenied(t *testing.T) {
	base, err := os.MkdirTemp("", "denied") // t.TempDir is inside a directory that only root can read
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	secret := write(t, filepath.Join(base, "secret"), []byte("secret"))
	closed := filepath.Join(base, "closed")
	if err := errors.Join(os.Chmod(secret, 0), os.Mkdir(closed, 0)); err != nil {
		t.Fatal(err)
	}
	open := write(t, filepath.Join(base, "open"), []byte("open"))
	asUser(t, func() {
		c := newClient(t, Options{})
		for _, path := range []string{secret, closed, filepath.Join(closed, "x")} {
			if _, _, err := get(t, c, urlOf(path)); !errors.Is(err, fetch.Denied) {
				t.Errorf("%s: got %v, want Denied", path, err)
			}
		}
		if _, b, err := get(t, c, urlOf(open)); string(b) != "open" {
			t.Errorf("got %q, %v", b, err)
		}
	})
}
