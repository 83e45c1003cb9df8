package main

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// session joins standard input and output to a peer until it closes: on a
// terminal as a person's session, in a pipe as it is. Where only w is one, the
// peer has no command over it.
func (j *job) session(w io.Writer, onTerminal bool, resp *fetch.Response) error {
	if onTerminal && j.console != nil {
		return j.interactive(resp)
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

func (j *job) interactive(resp *fetch.Response) error {
	j.note("Control-] leaves")
	if err := j.console.begin(); err != nil {
		return err
	}
	defer j.console.end()
	defer context.AfterFunc(j.ctx, j.console.end)()
	ctx, stop := context.WithCancel(j.ctx)
	defer stop()
	j.console.tellSize(resp.Resize)
	go j.console.follow(ctx, resp.Resize)
	var left atomic.Bool
	go func() {
		if pour(resp.Input, untilEscape{j.console.in}) == errLeft {
			left.Store(true)
			resp.Body.Close()
		}
	}()
	_, err := io.Copy(j.stdout, resp.Body)
	if left.Load() {
		return nil
	}
	return local(err)
}

// escape is what a person types to leave: Control-].
const escape = 0x1d

// errLeft: the person has left.
var errLeft = errors.New("left")

// untilEscape ends where the person leaves: at the escape, or at the end of
// what is typed.
type untilEscape struct{ in io.Reader }

func (u untilEscape) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	for i, c := range p[:n] {
		if c == escape {
			return i, errLeft
		}
	}
	if err == io.EOF {
		err = errLeft
	}
	return n, err
}
