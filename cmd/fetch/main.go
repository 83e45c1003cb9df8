// Command fetch dereferences URLs: it writes the object that a URL names to
// standard output, or to a file that appears whole or not at all.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// version is set by the linker for a release.
var version = "dev"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	a := &app{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.exit(root.ExecuteContext(ctx))
}

// stopped is why a signal ended the context.
type stopped struct{ signal syscall.Signal }

func (s stopped) Error() string { return s.signal.String() }
func (s stopped) Unwrap() error { return fetch.Canceled }

// grace is how long after a signal we may take to put things in order. What
// waits within the kernel, for the reader of a pipe, hears of no context.
const grace = time.Second

// echo is how long a signal may be heard again without being another one:
// timeout(1) sends it to the process and then to its group.
const echo = grace / 10

// interruptible returns a context that SIGINT and SIGTERM end. The second one
// finds the default handler again, for whoever does not want to wait.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			cancel(stopped{s.(syscall.Signal)})
			time.AfterFunc(echo, func() { signal.Stop(signals) })
			time.AfterFunc(grace, func() { os.Exit(128 + int(s.(syscall.Signal))) })
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
	}
}
