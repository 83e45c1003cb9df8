package mail

import (
	"context"
	"errors"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/emersion/go-imap/v2"
)

// A mailbox holds the state of the mailbox that a session has opened with
// EXAMINE.
type mailbox struct {
	name         string
	validity     uint32 // UIDVALIDITY, or 0 if the server did not send it or does not store it
	uidNext      uint32 // UIDNEXT, or 0 if the server did not send it
	messages     uint32
	justSelected bool // if true, the current request opened the mailbox
	volatile     bool // if true, the server sends a new UIDVALIDITY with each EXAMINE
}

// examine opens the mailbox of the URL with EXAMINE. For a single message, an
// already open mailbox is reused. For a listing, the mailbox is opened again,
// so that the listing includes new messages.
func (s *session) examine(ctx context.Context, q *task) error {
	if m := s.mailbox; m != nil && m.name == q.mailbox && q.kind == kindMessage {
		m.justSelected = false
		if now := s.client.Mailbox(); now != nil {
			m.messages = now.NumMessages
		}
		return s.checkNumbers(q)
	}
	s.mailbox = nil
	m, err := s.openMailbox(q.mailbox)
	if err != nil {
		return err
	}
	s.mailbox = m
	if err := s.checkValidity(ctx, q); err != nil {
		return err
	}
	return s.checkNumbers(q)
}

// openMailbox opens a mailbox with EXAMINE.
func (s *session) openMailbox(name string) (*mailbox, error) {
	data, err := s.selectMailbox(name, "")
	var no *imap.Error
	refused := errors.As(err, &no) && no.Type == imap.StatusResponseTypeNo && no.Code == ""
	if refused && (strings.Contains(name, "&") || !isASCII(name)) {
		// Some servers do not encode mailbox names in modified UTF-7, so the
		// client sends the unencoded name as a second attempt.
		if raw, rawErr := s.selectMailbox(name, "EXAMINE "+quote(name)); rawErr == nil {
			data, err = raw, nil
		}
	}
	if err != nil {
		return nil, s.classify("EXAMINE", fetch.NotFound, err)
	}
	s.MarkAnswered()
	return &mailbox{name: name, validity: data.UIDValidity, uidNext: uint32(data.UIDNext), messages: data.NumMessages, justSelected: true}, nil
}

// selectMailbox opens a mailbox read-only. If command is not empty, it replaces
// the EXAMINE command that imapclient writes.
func (s *session) selectMailbox(name, command string) (*imap.SelectData, error) {
	s.clientConn.startCommand(command)
	return s.client.Select(name, &imap.SelectOptions{ReadOnly: true}).Wait()
}

// checkNumbers returns an error if UIDVALIDITY differs from the value in the
// URL, because the UIDs then refer to other messages (RFC 3501 2.3.1.1). It
// also rejects sequence numbers greater than the number of messages, because
// servers report such numbers as syntax errors.
func (s *session) checkNumbers(q *task) error {
	if q.validity != 0 && q.validity != s.mailbox.validity {
		return s.mailbox.validityError(q)
	}
	if q.index > s.mailbox.messages {
		return fetch.NotFound.Errorf("mailbox has only %d messages", s.mailbox.messages)
	}
	return nil
}
