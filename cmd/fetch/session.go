package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"golang.org/x/term"
)

// session joins standard input and output to a peer until it closes: on a
// terminal as a person's session, in a pipe as it is.
func (j *job) session(w io.Writer, resp *fetch.Response) error {
	in, ok := j.stdin.(*os.File)
	if ok && isTerminal(in) && terminal(j.stdout) {
		return j.interactive(w, in, resp)
	}
	sent := make(chan error, 1)
	go func() { sent <- pour(resp.Input, j.stdin) }()
	_, err := io.Copy(w, resp.Body)
	select {
	case failed := <-sent:
		err = errors.Join(err, failed)
	default: // the peer has closed, and what was not read yet is nobody's
	}
	return local(err)
}

// pour sends in. Its end is not told to the peer: most end the session at once
// then, with their answer unsaid. They close, or --idle and --max-time do.
func pour(to io.Writer, in io.Reader) error {
	_, err := io.Copy(to, in)
	return err
}

// escape is what a person types to leave: Control-].
const escape = 0x1d

// errLeft: the person has left.
var errLeft = fetch.Canceled.Errorf("left")

func (j *job) interactive(w io.Writer, in *os.File, resp *fetch.Response) error {
	fmt.Fprintf(j.stderr, "fetch: %s; Control-] leaves\n", tty.Escape(resp.URL.WithoutUserinfo().String()))
	if user, _, hasPassword := resp.URL.User(); user != "" {
		fmt.Fprintf(j.stderr, "fetch: the URL advises to log in as %s\n", tty.Escape(user))
		if hasPassword {
			fmt.Fprintln(j.stderr, "fetch: it holds a password, which is not sent for you")
		}
	}
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return local(err)
	}
	defer term.Restore(int(in.Fd()), old)
	ctx, stop := context.WithCancel(j.ctx)
	defer stop()
	go j.followWindow(ctx, in, resp)
	go func() {
		if pour(resp.Input, untilEscape{in}) == errLeft {
			resp.Body.Close()
		}
	}()
	_, err = io.Copy(w, resp.Body)
	if errors.Is(err, fetch.Canceled) {
		err = nil
	}
	return local(err)
}

// followWindow tells the peer how large the window is, now and when it
// changes.
func (j *job) followWindow(ctx context.Context, in *os.File, resp *fetch.Response) {
	if resp.Resize == nil {
		return
	}
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		if cols, rows, err := term.GetSize(int(in.Fd())); err == nil {
			resp.Resize(cols, rows)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// untilEscape ends where the person leaves.
type untilEscape struct{ in io.Reader }

func (u untilEscape) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	for i, c := range p[:n] {
		if c == escape {
			return i, errLeft
		}
	}
	return n, err
}
