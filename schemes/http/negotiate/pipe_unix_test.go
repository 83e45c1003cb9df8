//go:build unix

package negotiate

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipe checks that New does not wait for a named pipe in place of the cache of
// kinit.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	config, cache := filepath.Join(dir, "krb5.conf"), filepath.Join(dir, "krb5cc_0")
	if err := os.WriteFile(config, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(cache, 0o666); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := New(Options{Config: config, Cache: cache})
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("got %v", err)
		}
	case <-time.After(5 * time.Minute):
		t.Error("New waits for a writer of the pipe")
		if f, err := os.OpenFile(cache, os.O_WRONLY, 0); err == nil {
			f.Close()
		}
		<-done
	}
}
