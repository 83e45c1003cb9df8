// Package interactive connects a terminal to a remote session, such as telnet.
package interactive

import (
	"os"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
	"golang.org/x/term"
)

// A Console is the terminal on standard input. A session changes the mode of
// the terminal. The end of the session restores the mode. The methods of a
// Console may be called concurrently.
type Console struct {
	in *os.File

	mu    sync.Mutex
	mode  telnet.Mode
	saved *term.State // mode before the session, or nil if no session is open
}

// New returns the Console of the terminal in.
func New(in *os.File) *Console { return &Console{in: in} }

// SetMode selects the input mode that the server requests.
func (c *Console) SetMode(m telnet.Mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	c.apply()
}

// open saves the mode of the terminal for a new session.
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

// restore ends the session and restores the mode of the terminal. Further calls
// have no effect.
func (c *Console) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saved != nil {
		term.Restore(c.fd(), c.saved)
		c.saved = nil
	}
}

// reapply selects the mode of the session again, after a shell has changed it.
func (c *Console) reapply() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apply()
}

// apply changes the mode of the terminal to c.mode. The caller holds c.mu.
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

// sendSize calls resize with the size of the window. A nil resize is ignored.
func (c *Console) sendSize(resize func(cols, rows int)) {
	if resize == nil {
		return
	}
	if cols, rows, err := term.GetSize(c.fd()); err == nil {
		resize(cols, rows)
	}
}
