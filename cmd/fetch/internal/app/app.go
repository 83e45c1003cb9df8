// Package app is the command as a function, with all of its subcommands.
package app

import (
	"io"
	"os"
	"slices"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

// Run executes the command line in args and returns the exit code. If --next
// divides args into groups, Run executes each group.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	tree := sync.OnceValue(func() *command.Tree { return Commands(new(console.Streams)) })
	groups := groupsOf(args, func(group []string) bool { return tree().AwaitsValue(group) })
	logs := map[string]*os.File{}
	if len(groups) == 1 {
		return run(args, stdin, stdout, stderr, logs)
	}
	var tally console.Tally
	for _, group := range groups {
		code := run(group, stdin, stdout, stderr, logs)
		if code > 128 {
			return code // a signal ends all groups
		}
		tally.Add(code)
	}
	return tally.Code
}

// run executes one command.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, logs map[string]*os.File) int {
	std := &console.Streams{Stdin: stdin, Stdout: stdout, Stderr: stderr, Logs: logs}
	if len(args) == 0 {
		return greet(std)
	}
	ctx, stop := console.Interruptible(&std.Interrupts)
	defer stop()
	tree := Commands(std)
	args = tree.Prepare(args)
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
