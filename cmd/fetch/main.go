// Command fetch retrieves URLs of many schemes, such as http, ftp and gopher.
// It writes each object to standard output or to a file. A file gets its final
// name only when the download is complete.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line in args and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	std := &streams{stdin: stdin, stdout: stdout, stderr: stderr}
	tree := newCommandTree(std)
	tree.prepare(args)
	std.errorJSON = slices.Contains(args, "--error-json") // also for errors in the arguments
	root := tree.main
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		return std.report(ctx, err, errorSource{})
	}
	return 0
}

// shutdownTime is the time after a signal until the process is forced to exit.
// A write to a pipe can block forever, because it cannot be canceled.
const shutdownTime = time.Second

// repeatTime is the time after a signal in which further signals are ignored.
// The command timeout(1) sends each signal twice: to the process and to its
// group.
const repeatTime = shutdownTime / 10

// interruptible returns a context that is canceled by SIGINT and SIGTERM. A
// second signal ends the process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			cancel(signalError{s.(syscall.Signal)})
			time.AfterFunc(repeatTime, func() { signal.Stop(signals) })
			time.AfterFunc(shutdownTime, func() { os.Exit(128 + int(s.(syscall.Signal))) })
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
	}
}
