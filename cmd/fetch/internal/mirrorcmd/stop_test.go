package mirrorcmd_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestMirrorStop checks that only one process works on an archive at a time. A
// mirror that is interrupted or killed is completed by the same command.
func TestMirrorStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		exit   int
	}{{"interrupted", syscall.SIGINT, 130}, {"terminated", syscall.SIGTERM, 143}, {"killed", syscall.SIGKILL, -1}} {
		t.Run(test.name, func(t *testing.T) {
			site := newStoppedSite(t)
			url := site.URL + "/"
			dir := filepath.Join(t.TempDir(), "arc")
			c := commandtest.Command("fetch", "--no-config", "mirror", "--warc", "--output-dir", dir, url)
			var messages bytes.Buffer
			c.Stderr = &messages
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if text := waitForText(filepath.Join(dir, "crawl.jsonl"), `/small"`); text != "" { // else both small objects are complete
				c.Process.Signal(syscall.SIGQUIT) // prints the stacks of all goroutines
				c.Wait()
				t.Fatalf("crawl.jsonl: %s\nmessages: %s", text, &messages)
			}
			commandtest.Run(t, 3, "mirror", "--output-dir", dir, url)
			commandtest.Run(t, 3, "verify", dir)
			for _, args := range [][]string{{"--manifest"}, {"--wacz", filepath.Join(t.TempDir(), "x.wacz")}} {
				out, stderr := commandtest.RunStderr(t, 3, append([]string{"pack", dir}, args...)...)
				if out != "" || !strings.Contains(stderr,
					"is in use by another process: try again after it has finished") {
					t.Errorf("pack %v during a run: %q, %q", args, out, stderr)
				}
			}
			commandtest.Contains(t, commandtest.Run(t, 0, "frontier", "dump", "--state", "pending", dir), `/big"`)
			if err := c.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			close(site.stopped)
			if got := c.ProcessState.ExitCode(); got != test.exit {
				t.Errorf("exit code %d, want %d", got, test.exit)
			}
			commandtest.Run(t, 10, "verify", dir)
			commandtest.Run(t, 0, "mirror", "--warc", "--output-dir", dir, url)
			commandtest.Run(t, 0, "verify", dir)
			if _, err := os.Stat(filepath.Join(dir, "tmp")); err == nil {
				t.Error("the folder tmp exists after the run")
			}
			commandtest.Run(t, 0, "pack", dir, "--manifest")
			if n := commandtest.States(t, dir, 1)["done"]; n != 3 {
				t.Errorf("%d visits, want 3", n)
			}
		})
	}
}

// A stoppedSite has a page, a small object, and a large object. It sends the
// large object only after the channel stopped was closed.
type stoppedSite struct {
	*httptest.Server
	stopped chan struct{}
}

func newStoppedSite(t *testing.T) *stoppedSite {
	t.Helper()
	s := &stoppedSite{stopped: make(chan struct{})}
	big := commandtest.RandomBytes(3_000_000)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<a href=small>s</a> <a href=big>b</a>")
		case "/small":
			io.WriteString(w, "small\n")
		case "/big":
			w.Header().Set("Content-Length", strconv.Itoa(len(big)))
			w.Write(big[:len(big)/2])
			http.NewResponseController(w).Flush()
			select {
			case <-s.stopped:
				w.Write(big[len(big)/2:])
			case <-r.Context().Done():
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// waitForText waits until the file contains text. If it does not, waitForText
// returns its content after 20 seconds, which has happened once for an unknown
// reason.
func waitForText(file, text string) string {
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-ticks.C {
		content, err := os.ReadFile(file)
		switch {
		case err == nil && strings.Contains(string(content), text):
			return ""
		case time.Now().After(end):
			return fmt.Sprintf("%s, %v", content, err)
		}
	}
}
