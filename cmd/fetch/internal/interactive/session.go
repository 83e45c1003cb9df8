package interactive

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// Copy connects a reader and a writer to the session of resp. It sends the
// input to the server and writes the output of the server until the server
// closes the session. The session stays open after the end of the input,
// because most servers would otherwise close it before they answer.
func Copy(w io.Writer, in io.Reader, resp *fetch.Response) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(resp.Input, in)
		sent <- err
	}()
	_, err := io.Copy(w, resp.Body)
	select {
	case failed := <-sent:
		err = errors.Join(err, failed)
	default: // the server has closed the session before it has read all input
	}
	return err
}

// Run connects the terminal to the session of resp. It returns when the server
// closes the session or when the user presses the escape key, Control-]. The
// output of the server is written to w.
func (c *Console) Run(ctx context.Context, w io.Writer, resp *fetch.Response) error {
	if err := c.open(); err != nil {
		return err
	}
	defer c.restore()
	defer context.AfterFunc(ctx, c.restore)()
	signals, stop := context.WithCancel(ctx)
	defer stop()
	c.sendSize(resp.Resize)
	go c.handleSignals(signals, resp.Resize)
	var escaped atomic.Bool
	input := c.Input
	if input == nil {
		input = c.in
	}
	go func() {
		if _, err := io.Copy(resp.Input, escapeReader{input}); err == errEscaped {
			escaped.Store(true)
			resp.Body.Close()
		}
	}()
	_, err := io.Copy(w, resp.Body)
	if escaped.Load() {
		return nil
	}
	return err
}

// escapeKey is the key that leaves a session: Control-].
const escapeKey = 0x1d

var errEscaped = errors.New("escape key pressed")

// An escapeReader reads the characters that the user types. It returns
// errEscaped after the escape key and at the end of the input.
type escapeReader struct{ in io.Reader }

func (u escapeReader) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	for i, c := range p[:n] {
		if c == escapeKey {
			return i, errEscaped
		}
	}
	if err == io.EOF {
		err = errEscaped
	}
	return n, err
}
