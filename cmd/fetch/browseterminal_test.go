//go:build linux

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// TestBrowseTerminal uses the line-mode browser on a terminal of 24 rows.
func TestBrowseTerminal(t *testing.T) {
	fetch := commandtest.Fetch(t) + " --no-config --retry 0 browse "
	dir := t.TempDir()
	var text strings.Builder
	for n := range 50 {
		fmt.Fprintf(&text, "line %d.\n", n+1)
	}
	if err := os.WriteFile(filepath.Join(dir, "long.txt"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("screens", func(t *testing.T) {
		t.Parallel()
		s := newTmuxSession(t)
		s.start("PAGER= " + fetch + dir + "/long.txt")
		s.waitForText("line 19.\nReturn for more, Up, Quit or Help:")
		s.press("Enter")
		s.waitForText("line 41.\nReturn for more")
		s.press("Enter")
		s.waitForText("line 50.\nUp, Quit or Help:")
		s.press("C-c") // at the prompt, Control-C does not quit
		s.waitForText("Type q to quit.")
		s.press("C-d")
		s.waitForExit(0)
	})
	t.Run("pager", func(t *testing.T) {
		t.Parallel()
		s := newTmuxSession(t)
		s.start("PAGER='sed s/line/paged/' " + fetch + dir + "/long.txt")
		s.waitForText("paged 50.\nUp, Quit or Help:")
		s.typeLine("q")
		s.waitForExit(0)
	})
	t.Run("stopped transfer", func(t *testing.T) {
		t.Parallel()
		f := faultnet.Listen(t, faultnet.Script{faultnet.Expect("\r\n\r\n"), faultnet.Stall()})
		s := newTmuxSession(t)
		s.start(fetch + dir + "/long.txt")
		s.waitForText("Return for more")
		s.typeLine("g http://" + f.Addr().String() + "/")
		s.waitFor(func() bool { return len(f.Conns()) > 0 && len(f.Conns()[0].Sent()) > 0 }, func() string { return "no request" })
		s.press("C-c")
		s.waitForText("fetch: stopped\nReturn for more")
		s.typeLine("q")
		s.waitForExit(0)
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		f := faultnet.Listen(t, faultnet.Script{faultnet.Send("name? "), faultnet.Expect("\n"), faultnet.Send("bye\r\n")})
		s := newTmuxSession(t)
		s.start(fetch)
		s.waitForText("Quit or Help:")
		s.typeLine("g telnet://" + f.Addr().String())
		s.waitForText("name? ")
		s.typeLine("ada")
		s.waitForText("bye")
		s.typeLine("h") // the first line after the session is a command
		s.waitForText("print this text")
		s.typeLine("q")
		s.waitForExit(0)
	})
}
