// Command fetch retrieves URLs of many schemes, such as http, ftp and gopher.
// It writes each object to standard output or to a file. A file gets its final
// name only when the download is complete.
package main

import (
	"io"
	"log"
	"os"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
)

func main() {
	// Package net/http logs some messages of servers to the standard logger.
	// They would appear on standard error, even with -s or --error-json.
	log.SetOutput(io.Discard)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line in args and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	std := &console.Streams{Stdin: stdin, Stdout: stdout, Stderr: stderr}
	ctx, stop := console.Interruptible(&std.Interrupts)
	defer stop()
	tree := newCommands(std)
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
