package main

import (
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/spf13/cobra"
)

// TestIgnoredHangup checks that an ignored SIGHUP remains ignored, as under
// nohup(1).
func TestIgnoredHangup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	_, stop := console.Interruptible(&console.Interrupts{})
	defer stop()
	if !signal.Ignored(syscall.SIGHUP) {
		t.Error("SIGHUP is handled")
	}
}

// TestPreparedCommands checks for which commands a process registers flags. A
// command without flags would reject them, and flags that are not used delay
// the start.
func TestPreparedCommands(t *testing.T) {
	const all = "all commands"
	for _, test := range []struct{ name, args, want string }{
		{"no arguments", "", "fetch"},
		{"URL", "file:/x", "fetch"},
		{"command", "mirror -v file:/x", "fetch, fetch mirror"},
		{"name of a command as a value", "-o mirror file:/x", "fetch"},
		{"name of a command after a value", "--proxy x mirror file:/x", "fetch, fetch mirror"},
		{"name of a command after a switch", "-v mirror file:/x", "fetch, fetch mirror"},
		{"name of a command after --", "-- mirror", "fetch"},
		{"unknown flag", "--unknown mirror", "fetch"},
		{"subcommand", "uri parse x:y", "fetch, fetch uri, fetch uri parse"},
		{"subcommand after a value", "uri --proxy x parse y", "fetch, fetch uri, fetch uri parse"},
		// Until the flags of fetch uri are registered, --batch seems to have the
		// value parse.
		{"subcommand after a switch", "uri --batch parse x:y", "fetch, fetch uri, fetch uri parse"},
		{"no subcommand", "frontier --help", "fetch, fetch frontier"},
		{"manual pages", "man /x", all},
		{"help", "-s help mirror", all},
		{"completion", "__complete mirror --", "fetch, fetch mirror"},
		{"completion of a command", "__completeNoDesc ls", "fetch"},
	} {
		tree := app.Commands(&console.Streams{})
		tree.Prepare(strings.Fields(test.args))
		var paths []string
		commands := 0
		var visit func(*cobra.Command)
		visit = func(c *cobra.Command) {
			commands++
			if c.Flags().HasFlags() {
				paths = append(paths, c.CommandPath())
			}
			for _, sub := range c.Commands() {
				visit(sub)
			}
		}
		visit(tree.Main)
		slices.Sort(paths)
		got := strings.Join(paths, ", ")
		if len(paths) == commands {
			got = all
		}
		if got != test.want {
			t.Errorf("%s: fetch %s registers the flags of %s, want %s", test.name, test.args, got, test.want)
		}
	}
}
