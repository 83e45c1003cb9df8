//go:build linux

package mirrorcmd_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
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
	events := c.eventAt(60, func() {
		if err := disk.Fill(); err != nil {
			t.Error(err)
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

// TestTerminatedInOutage ends a worker while its database is down. The worker must
// report the end of the run, and continue without loss when the database is up.
func TestTerminatedInOutage(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 2, 60)
	w := c.one()
	w.command = verbose(w.command, "--log-json")
	events := c.eventAt(60, c.db.Stop)
	w.heard = func(out string) {
		if strings.Contains(out, "the database is unavailable") {
			w.signal(syscall.SIGTERM)
		}
	}
	c.run(events, func(w *sharedWorker, out string, err error) {
		if code := w.cmd.ProcessState.ExitCode(); code != 143 || !strings.Contains(out, `"run ended"`) || !strings.Contains(out, `"exit":143`) {
			t.Errorf("exit code %d, %s; want 143 and the end of the run", code, out)
		}
	})
	c.db.Restart()
	w.heard = nil
	if out, err := w.work(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	c.check(t)
}

// verbose returns the command of a worker without --silent and with another flag.
func verbose(command func() *exec.Cmd, flag string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := command()
		cmd.Args = append(slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--silent" }), flag)
		return cmd
	}
}
