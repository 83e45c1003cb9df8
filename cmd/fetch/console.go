package main

import (
	"os"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
	"golang.org/x/term"
)

// A console is the terminal of a person. It is again as it was once a session
// has ended, however it ends.
type console struct {
	in *os.File

	mu   sync.Mutex
	mode telnet.Mode
	was  *term.State // nil: no session is under way
}

// set has the terminal take what is typed as the peer wants it.
func (c *console) set(m telnet.Mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	c.apply()
}

// begin gives the terminal to a session.
func (c *console) begin() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.was != nil {
		return fetch.InUse.Errorf("the terminal has a session already")
	}
	if c.was, err = term.GetState(c.fd()); err != nil {
		return fetch.Local.With(err)
	}
	return c.apply()
}

// end takes it back. It may be called at any time, and again.
func (c *console) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.was != nil {
		term.Restore(c.fd(), c.was)
		c.was = nil
	}
}

// again puts the mode back that a shell has changed meanwhile.
func (c *console) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apply()
}

// apply is called with the lock held.
func (c *console) apply() error {
	if c.was == nil {
		return nil
	}
	err := term.Restore(c.fd(), c.was)
	if err == nil && c.mode == telnet.Keys {
		_, err = term.MakeRaw(c.fd())
	} else if err == nil {
		err = takeLines(c.fd(), c.mode == telnet.Lines)
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	return nil
}

func (c *console) fd() int { return int(c.in.Fd()) }

// tellSize tells a peer who cares how large the window is.
func (c *console) tellSize(resize func(cols, rows int)) {
	if resize == nil {
		return
	}
	if cols, rows, err := term.GetSize(c.fd()); err == nil {
		resize(cols, rows)
	}
}
