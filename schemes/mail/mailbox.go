package mail

import (
	"errors"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/emersion/go-imap/v2"
)

// A mailbox is one that is selected, for reading alone.
type mailbox struct {
	name         string
	validity     uint32 // UIDVALIDITY
	uidNext      uint32 // UIDNEXT
	messages     uint32
	justSelected bool // selected for this very request
}

// examine selects the mailbox of q. A session that has it already keeps it,
// but for listings, which must have the newest. The server reports on the way
// how many messages there are.
func (s *session) examine(q *task) error {
	if m := s.mailbox; m != nil && m.name == q.mailbox && q.kind == kindMessage {
		m.justSelected = false
		if now := s.client.Mailbox(); now != nil {
			m.messages = now.NumMessages
		}
		return s.checkNumbers(q)
	}
	s.mailbox = nil
	data, err := s.selectMailbox(q.mailbox, "")
	var no *imap.Error
	if errors.As(err, &no) && no.Type == imap.StatusResponseTypeNo && no.Code == "" && (strings.Contains(q.mailbox, "&") || !isASCII(q.mailbox)) {
		// The server may have names that are not in modified UTF-7.
		if raw, again := s.selectMailbox(q.mailbox, "EXAMINE "+quote(q.mailbox)); again == nil {
			data, err = raw, nil
		}
	}
	if err != nil {
		return s.classify("EXAMINE", fetch.NotFound, err)
	}
	s.MarkAnswered()
	s.mailbox = &mailbox{q.mailbox, data.UIDValidity, uint32(data.UIDNext), data.NumMessages, true}
	return s.checkNumbers(q)
}

// selectMailbox sends EXAMINE, or command in its place if that is not "".
func (s *session) selectMailbox(name, command string) (*imap.SelectData, error) {
	s.guard.startCommand(command)
	return s.client.Select(name, &imap.SelectOptions{ReadOnly: true}).Wait()
}

// check refuses numbers of another time: what they named then is not what they
// name now (RFC 3501 2.3.1.1). Numbers within the mailbox have an end, beyond
// which servers call them an error of grammar.
func (s *session) checkNumbers(q *task) error {
	if q.validity != 0 && q.validity != s.mailbox.validity {
		return fetch.NotFound.Errorf("UIDVALIDITY of the mailbox is %d, not %d: its messages have new numbers", s.mailbox.validity, q.validity)
	}
	if q.index > s.mailbox.messages {
		return fetch.NotFound.Errorf("mailbox has %d messages", s.mailbox.messages)
	}
	return nil
}
