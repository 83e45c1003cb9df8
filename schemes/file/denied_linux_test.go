package file

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// asNobody runs test where the file system treats us as an ordinary user:
// root may read what nobody may. The thread that it changes is not used again.
func asNobody(t *testing.T, test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread()
			syscall.Setfsuid(65534) // always reports success
		}
		test()
	}()
	<-done
}

func TestDenied(t *testing.T) {
	base, err := os.MkdirTemp("", "denied") // a t.TempDir lies below one that is root's own
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
	asNobody(t, func() {
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
