package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/peer"
)

// TestMirrorStop: one process works on an archive at a time; what was stopped
// or killed goes on with the same command, and is whole.
func TestMirrorStop(t *testing.T) {
	t.Parallel()
	web := peer.Nginx(t, peer.NginxOptions{Server: "location /big { limit_rate 2m; }"})
	web.Put("index.html", []byte("<a href=small>s</a> <a href=big>b</a>"))
	web.Put("small", []byte("small\n"))
	web.Put("big", noise(3_000_000))
	url := "http://" + web.Addr + "/"
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		exit   int
	}{{"interrupted", syscall.SIGINT, 130}, {"terminated", syscall.SIGTERM, 143}, {"killed", syscall.SIGKILL, -1}} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "arc")
			c := command("fetch", "--no-config", "mirror", "--warc", "--output-dir", dir, url)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { // the batch with the small one
				text, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
				return err == nil && len(text) > 0
			})
			fetchAs(t, 3, "mirror", "--output-dir", dir, url)
			fetchAs(t, 3, "verify", dir)
			for _, args := range [][]string{{"--manifest"}, {"--wacz", filepath.Join(t.TempDir(), "x.wacz")}} {
				out, said := fetchSays(t, 3, append([]string{"pack", dir}, args...)...)
				if out != "" || !strings.Contains(said, "is in use by another process: try again after it has finished") {
					t.Errorf("pack %v beside a run: %q, %q", args, out, said)
				}
			}
			contains(t, fetchAs(t, 0, "frontier", "dump", "--state", "pending", dir), `/big"`)
			if err := c.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			if got := c.ProcessState.ExitCode(); got != test.exit {
				t.Errorf("exit code %d, want %d", got, test.exit)
			}
			fetchAs(t, 10, "verify", dir)
			fetchAs(t, 0, "mirror", "--warc", "--output-dir", dir, url)
			fetchAs(t, 0, "verify", dir)
			if _, err := os.Stat(filepath.Join(dir, "tmp")); err == nil {
				t.Error("tmp is there after the run")
			}
			fetchAs(t, 0, "pack", dir, "--manifest")
			if n := states(t, dir, 1)["done"]; n != 3 {
				t.Errorf("%d visits, want one of each", n)
			}
		})
	}
}

// until waits for what another process does.
func until(t *testing.T, done func() bool) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	deadline := time.After(20 * time.Second)
	for !done() {
		select {
		case <-ticks.C:
		case <-deadline:
			t.Fatal("it did not come")
		}
	}
}
