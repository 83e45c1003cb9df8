package faultnet

import (
	"fmt"
	"regexp"
	"sync"
)

// A Hook is what a server does about some of the lines that it hears.
type Hook struct {
	command *regexp.Regexp
	nth     int
	steps   Script

	mu    sync.Mutex
	heard int
}

// On makes a Hook for lines that match the regular expression: for the nth of
// them on all connections of the script together, from 1; zero is for every
// one. The line is matched without its end.
func On(command string, nth int, steps ...Step) *Hook {
	return &Hook{command: regexp.MustCompile(command), nth: nth, steps: steps}
}

func (h *Hook) fits(line string) bool {
	if !h.command.MatchString(line) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard++
	return h.nth == 0 || h.nth == h.heard
}

// Lines serves a line protocol until the client ends: the first of the hooks
// that fits a line acts, and the script ends if its steps end it. Later hooks
// do not count that line. A line that no hook fits is an error of Server.Err
// and ends the connection.
//
//	faultnet.Lines(
//		faultnet.On("^RETR", 1, faultnet.Send("150 here\r\n"), faultnet.Reset()),
//		faultnet.On("^RETR", 0, faultnet.Send("550 no\r\n")),
//		faultnet.On("^QUIT", 0, faultnet.Send("221 bye\r\n"), faultnet.Fin()),
//	)
func Lines(hooks ...*Hook) Step {
	return Do("lines", func(c *Conn) error {
		for {
			line, err := c.ReadLine()
			if err != nil {
				return err
			}
			steps, err := find(hooks, trimEnd(line))
			if err != nil {
				return err
			}
			for _, step := range steps {
				if err := step.do(c); err != nil {
					return err
				}
			}
		}
	})
}

func find(hooks []*Hook, line string) (Script, error) {
	for _, h := range hooks {
		if h.fits(line) {
			return h.steps, nil
		}
	}
	return nil, fmt.Errorf("nothing is hooked to %q", line)
}

func trimEnd(line string) string {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
