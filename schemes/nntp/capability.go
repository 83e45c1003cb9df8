package nntp

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/wire/line"
)

// capabilities maps each capability label that a server announces to its
// arguments, in upper case (RFC 3977 3.3). It is nil for a server older than
// RFC 3977.
type capabilities map[string][]string

func (c capabilities) has(label string) bool { _, ok := c[label]; return ok }

func (c capabilities) hasArg(label, arg string) bool { return slices.Contains(c[label], arg) }

// supportsRFC3977 reports whether the server implements RFC 3977. Such a server
// accepts pipelined commands, and its LISTGROUP command accepts a range.
func (c capabilities) supportsRFC3977() bool { return c.has("READER") }

// requestCapabilities sends CAPABILITIES and stores the capabilities of the
// server in s.caps.
func (s *session) requestCapabilities() error {
	s.caps = nil
	r, err := s.command("CAPABILITIES")
	switch {
	case err != nil:
		return err
	case r.Code == codeUnavailable:
		return statusError("CAPABILITIES", r)
	case r.Code != 101:
		return nil // leafnode replies 500, other servers reply 480
	}
	s.caps = capabilities{}
	return s.ReadShortBlock(func(text string) {
		if words := strings.Fields(strings.ToUpper(text)); len(words) > 0 {
			s.caps[words[0]] = words[1:]
		}
	})
}

// readGreeting reads the greeting of the server and requests its capabilities.
// It sends MODE READER if the server requires this command. INN is such a
// server: its program innd passes the connection to a reader program after MODE
// READER.
func (s *session) readGreeting() error {
	r, err := s.readReply()
	if err != nil {
		return err
	}
	if r.Code != 200 && r.Code != 201 {
		return statusError("greeting", r)
	}
	if err := s.requestCapabilities(); err != nil {
		return err
	}
	if s.caps.supportsRFC3977() || s.caps != nil && !s.caps.has("MODE-READER") {
		return nil
	}
	if r, err = s.command("MODE", "READER"); err != nil {
		return err
	}
	switch {
	case r.Code == 200, r.Code == 201:
	case s.caps == nil && r.Code != codeUnavailable && r.Code != 502:
		return nil // the server has no modes or requires a login first
	default:
		return statusError("MODE READER", r)
	}
	if s.caps != nil {
		return s.requestCapabilities()
	}
	return nil
}

// inSync reports whether the session can send the next command. It marks the
// session as broken if received bytes are unread, because they would be taken
// for the reply to that command.
func (s *session) inSync() bool {
	if s.Lines.Buffered() > 0 {
		s.Break()
	}
	return !s.IsBroken()
}

// discardReply reads and ignores the reply to a command that was pipelined
// after a failed command.
func (s *session) discardReply() {
	if r, err := s.readReply(); err != nil || isMultiline(r) {
		s.Break()
	}
}

// isMultiline reports whether more lines follow the status line r (RFC 3977
// 3.2). It must not be used for replies to LISTGROUP.
func isMultiline(r line.Reply) bool {
	return slices.Contains([]int{100, 101, 215, 220, 221, 222, 224, 225, 230, 231}, r.Code)
}
