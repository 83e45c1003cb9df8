package faultnet

import (
	"fmt"
	"regexp"
	"sync"
)

// A Hook lets a server react to lines that match a regular expression.
type Hook struct {
	command *regexp.Regexp
	nth     int
	steps   Script

	mu    sync.Mutex
	heard int
}

// On returns a Hook for lines that match the regular expression command. If nth
// is zero, the steps run for every matching line, and otherwise only for the
// nth one.
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

// Lines returns a Step that serves a line protocol until the client closes the
// connection. For each line, the steps of the first matching hook run. They may
// end the script. Later hooks do not count the line. A line without a matching
// hook ends the connection and is reported by Server.Err.
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
