package nntp

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/line"
)

// capabilities maps the capability labels of a server to their arguments, in
// upper case (RFC 3977 3.3). It is nil for a server older than RFC 3977.
type capabilities map[string][]string

func (c capabilities) has(label string) bool { _, ok := c[label]; return ok }

func (c capabilities) hasArg(label, arg string) bool { return slices.Contains(c[label], arg) }

// supportsRFC3977 reports whether the server implements RFC 3977. Such a server
// accepts pipelined commands, and its LISTGROUP command accepts a range.
func (c capabilities) supportsRFC3977() bool { return c.has("READER") }

// requestCapabilities sends CAPABILITIES and replaces the recorded capabilities.
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
	return s.readLines(func(text string) {
		if words := strings.Fields(strings.ToUpper(text)); len(words) > 0 {
			s.caps[words[0]] = words[1:]
		}
	})
}

// readGreeting reads the greeting and requests the capabilities. It sends MODE
// READER if necessary. The innd program of INN serves other news servers and
// passes the connection to a reader program after MODE READER.
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

// inSync breaks the session if unread bytes are buffered. It reports whether
// the session is usable.
func (s *session) inSync() bool {
	if s.Lines.Buffered() > 0 {
		s.Break()
	}
	return !s.IsBroken()
}

// discardReply reads and ignores the reply to a pipelined command after an
// earlier command failed.
func (s *session) discardReply() {
	if r, err := s.readReply(); err != nil || isMultiline(r) {
		s.Break()
	}
}

// isMultiline reports whether more lines follow the reply r (RFC 3977 3.2). It
// does not apply to replies to LISTGROUP.
func isMultiline(r line.Reply) bool {
	return slices.Contains([]int{100, 101, 215, 220, 221, 222, 224, 225, 230, 231}, r.Code)
}
