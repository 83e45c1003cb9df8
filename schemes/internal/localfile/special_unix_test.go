//go:build unix

package localfile

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// timeout returns a context that ends a blocked test.
func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Options{})
	for path, kind := range map[string]string{
		fifo: "named pipe", link: "named pipe", socket: "socket",
		"/dev/zero": "character device", "/dev/null": "character device", "/dev/tty": "character device",
	} {
		for _, op := range []fetch.Op{fetch.Get, fetch.Stat} {
			u, _ := fetch.ParseURL(urlOf(path))
			resp, err := c.Do(timeout(t), &fetch.Request{URL: u, Op: op})
			if err == nil {
				resp.Body.Close()
			}
			var refusal *fetch.Refusal
			if !errors.Is(err, fetch.BadAddress) || !errors.As(err, &refusal) || refusal.Subject != kind {
				t.Errorf("%v %s: got %v, want a refusal for a %s", op, path, err, kind)
			}
		}
	}
	resp, err := c.Get(t.Context(), urlOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"fifo": "named pipe", "link": "named pipe", "socket": "socket"}[e.Name]
		if e.Kind != fetch.Info || !e.URL.IsZero() || e.Extra["type"] != want {
			t.Errorf("%s: got kind %v, URL %v, extra %v, want an entry without a URL", e.Name, e.Kind, e.URL, e.Extra)
		}
		if link := e.Extra["link"]; (e.Name == "link") != (link == fifo) {
			t.Errorf("%s: link %q", e.Name, link)
		}
	}
}

// TestSwapped replaces a file with a named pipe between the type check and the
// open call. The pipe must be rejected without blocking.
func TestSwapped(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "f"), []byte("content"))
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- keepSwapping(ctx, path, fifo) }()
	c := newClient(t, Options{})
	outcomes := map[fetch.Fault]int{}
	// The goroutine can pause while the name is missing, for many requests.
	for n := 0; n < 2000 || n < 10_000_000 && outcomes[0]+outcomes[fetch.BadAddress] == 0; n++ {
		_, b, err := get(t, c, urlOf(path))
		if err == nil && string(b) != "content" {
			t.Fatalf("got %q", b)
		}
		outcomes[fetch.FaultOf(err)]++
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("swap: %v", err)
	}
	delete(outcomes, fetch.NotFound) // the name is missing for a moment
	if outcomes[0]+outcomes[fetch.BadAddress] == 0 || len(outcomes) > 2 {
		t.Errorf("got %v, want the content or a refusal", outcomes)
	}
}

// keepSwapping exchanges two files until ctx is done.
func keepSwapping(ctx context.Context, a, b string) error {
	for ctx.Err() == nil {
		if err := swap(a, b); err != nil {
			return err
		}
	}
	return nil
}

// swap exchanges two files.
func swap(a, b string) error {
	for _, step := range [][2]string{{a, a + ".x"}, {b, a}, {a + ".x", b}} {
		if err := os.Rename(step[0], step[1]); err != nil {
			return err
		}
	}
	return nil
}

func TestLinkLoop(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"a": "b", "b": "a", "self": "self", "here": "."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, Options{})
	for _, name := range []string{"a", "b", "self"} {
		if _, _, err := get(t, c, urlOf(filepath.Join(dir, name))); !errors.Is(err, fetch.Loop) {
			t.Errorf("%s: got %v, want Loop", name, err)
		}
	}
	if resp, _, err := get(t, c, urlOf(dir+"/here/here/here")); err != nil || resp.Kind != fetch.Menu {
		t.Errorf("link to its own directory: %v", err)
	}
}

// TestGeneratedFiles reads files with content that the system generates and a
// size that is incorrect.
func TestGeneratedFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("requires /proc and /sys of Linux")
	}
	c := newClient(t, Options{})
	for _, f := range []struct {
		path, begins string
		known        bool // the first read returns the complete file
	}{
		{"/proc/self/status", "Name:", true},                      // reported size 0
		{"/proc/kallsyms", "", false},                             // reported size 0, actual size several megabytes
		{"/sys/kernel/mm/transparent_hugepage/enabled", "", true}, // reported size 4096, actual size 30
	} {
		if _, err := os.Stat(f.path); err != nil {
			t.Logf("%s does not exist", f.path)
			continue
		}
		resp, b, err := get(t, c, urlOf(f.path))
		if err != nil || len(b) == 0 || !strings.HasPrefix(string(b), f.begins) {
			t.Errorf("%s: got %d bytes, %v", f.path, len(b), err)
			continue
		}
		if known := resp.Size == int64(len(b)); known != f.known || !known && resp.Size != -1 || resp.Validator != "" {
			t.Errorf("%s: got %d bytes, size %d, validator %q", f.path, len(b), resp.Size, resp.Validator)
		}
	}
}
