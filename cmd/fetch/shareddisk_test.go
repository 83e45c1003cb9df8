//go:build linux

package main_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/peer"
)

// TestFullDiskOfDatabase fills the disk of the database during a crawl. The
// worker must wait until the disk has room, and then complete the crawl.
func TestFullDiskOfDatabase(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 6, 100)
	server, disk := peer.PostgresOnDisk(t)
	c.dsn = fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl", server.Addr)
	w := c.one()
	silent := w.command
	w.command = func() *exec.Cmd {
		cmd := silent()
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--silent" })
		return cmd
	}
	events := make(chan func(), 1)
	c.onRequest(func(served int) {
		if served == 60 {
			events <- func() {
				if err := disk.Fill(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	freed := false
	w.heard = func(out string) {
		if !freed && strings.Contains(out, "No space left on device") {
			freed = true
			if err := disk.Free(); err != nil {
				t.Error(err)
			}
		}
	}
	c.run(events, func(w *sharedWorker, out string, err error) {
		if err != nil || !freed {
			t.Errorf("%v: %s; want an outage and no error", err, out)
		}
	})
	c.checkPoliteness(t)
	c.check(t)
}
