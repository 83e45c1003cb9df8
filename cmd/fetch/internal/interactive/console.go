// Package interactive connects a terminal to a remote session, such as telnet.
package interactive

import (
	"io"
	"os"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
	"golang.org/x/term"
)

// A Console controls the terminal on standard input during a remote session. It
// restores the terminal mode when the session ends. A Console is safe for
// concurrent use.
type Console struct {
	in *os.File

	// Input supplies the characters that the user types. If it is nil, Run
	// reads from the terminal. It must not be changed while a session is open.
	Input io.Reader

	mu    sync.Mutex
	mode  telnet.Mode
	saved *term.State // mode before the session, or nil if no session is open
}

// New returns a Console for the given terminal.
func New(in *os.File) *Console { return &Console{in: in} }

// SetMode sets the input mode of the terminal as requested by the server, for
// example to turn off the echo.
func (c *Console) SetMode(m telnet.Mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	c.apply()
}

// open saves the current mode of the terminal when a session starts.
func (c *Console) open() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saved != nil {
		return fetch.InUse.Errorf("the terminal is used by another session")
	}
	if c.saved, err = term.GetState(c.fd()); err != nil {
		return fetch.Local.With(err)
	}
	return c.apply()
}

// restore ends the session and restores the mode of the terminal. It may be
// called several times.
func (c *Console) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saved != nil {
		term.Restore(c.fd(), c.saved)
		c.saved = nil
	}
}

// reapply sets the terminal mode of the session again, because a shell may have
// changed the mode while the process was stopped.
func (c *Console) reapply() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apply()
}

// apply sets the terminal to c.mode if a session is open. The caller must hold
// c.mu.
func (c *Console) apply() error {
	if c.saved == nil {
		return nil
	}
	err := term.Restore(c.fd(), c.saved)
	if err == nil && c.mode == telnet.Keys {
		_, err = term.MakeRaw(c.fd())
	} else if err == nil {
		err = setLineMode(c.fd(), c.mode == telnet.Lines)
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	return nil
}

func (c *Console) fd() int { return int(c.in.Fd()) }

// sendSize calls resize with the current window size, unless resize is nil.
func (c *Console) sendSize(resize func(cols, rows int)) {
	if resize == nil {
		return
	}
	if cols, rows, err := term.GetSize(c.fd()); err == nil {
		resize(cols, rows)
	}
}
