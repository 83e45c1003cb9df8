package nntp

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/line"
)

// capabilities are the labels that a server announces and their arguments, in
// upper case (RFC 3977 3.3). They are nil where it announces none: servers
// older than RFC 3977.
type capabilities map[string][]string

func (c capabilities) has(label string) bool { _, ok := c[label]; return ok }

func (c capabilities) hasArg(label, arg string) bool { return slices.Contains(c[label], arg) }

// modern reports whether the server keeps RFC 3977: it takes commands before
// it has answered the last ones, and LISTGROUP takes a range.
func (c capabilities) modern() bool { return c.has("READER") }

func (s *session) askCapabilities() error {
	s.caps = nil
	r, err := s.ask("CAPABILITIES")
	switch {
	case err != nil:
		return err
	case r.Code == codeGone:
		return refused("CAPABILITIES", r)
	case r.Code != 101:
		return nil // leafnode answers 500, others 480
	}
	s.caps = capabilities{}
	return s.list(func(text string) {
		if words := strings.Fields(strings.ToUpper(text)); len(words) > 0 {
			s.caps[words[0]] = words[1:]
		}
	})
}

// greet reads the greeting and asks for a reader's server: the innd of INN is
// one for other servers until MODE READER, which hands the connection over.
func (s *session) greet() error {
	r, err := s.reply()
	if err != nil {
		return err
	}
	if r.Code != 200 && r.Code != 201 {
		return refused("greeting", r)
	}
	if err := s.askCapabilities(); err != nil || s.caps.modern() || s.caps != nil && !s.caps.has("MODE-READER") {
		return err
	}
	if r, err = s.ask("MODE", "READER"); err != nil {
		return err
	}
	switch {
	case r.Code == 200, r.Code == 201:
	case s.caps == nil && r.Code != codeGone && r.Code != 502:
		return nil // the server knows no modes, or wants a login first
	default:
		return refused("MODE READER", r)
	}
	if s.caps != nil {
		return s.askCapabilities()
	}
	return nil
}

// inStep makes sure that nothing came but what was asked for.
func (s *session) inStep() bool {
	if s.Lines.Buffered() > 0 {
		s.Break()
	}
	return !s.IsBroken()
}

// drain takes the first line of an answer that is of no more use, to a command
// that was sent together with one that failed.
func (s *session) drain() {
	if r, err := s.reply(); err != nil || multiline(r) {
		s.Break()
	}
}

// multiline reports whether more lines follow r, an answer to anything but
// LISTGROUP (RFC 3977 3.2).
func multiline(r line.Reply) bool {
	return slices.Contains([]int{100, 101, 215, 220, 221, 222, 224, 225, 230, 231}, r.Code)
}
