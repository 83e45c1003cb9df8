// Package app is the command as a function, with all of its subcommands.
package app

import (
	"io"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

// Run executes the command line in args and returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	std := &console.Streams{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	if len(args) == 0 {
		return greet(std)
	}
	ctx, stop := console.Interruptible(&std.Interrupts)
	defer stop()
	tree := Commands(std)
	tree.Prepare(args)
	std.ErrorJSON = slices.Contains(args, "--error-json") // also for errors in the arguments
	root := tree.Main
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		return std.Report(ctx, err, console.ErrorSource{})
	}
	return 0
}
