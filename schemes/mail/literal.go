package mail

import (
	"bytes"
	"io"
	"net"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A literal is one section of a message on its way, with what came before it
// in the same answer. It reads to io.EOF only where all of it has come and the
// server has said that all is well.
type literal struct {
	s           *session
	command     *imapclient.FetchCommand
	message     *imapclient.FetchMessageData
	text        io.Reader
	size        int64    // of text
	fromStart   bool     // the server has sent it from its beginning
	offset      int64    // where else, as the server says
	messageSize int64    // RFC822.SIZE, where that was asked for; else -1
	uid         imap.UID // that was asked for; 0: a number within the mailbox was

	mu        sync.Mutex // held while somebody takes from the library
	remaining int64
	truncated bool // text ended before its end
	err       error
}

// fetch asks for items of the message of q, of which one is a section. It
// returns that one as soon as it begins; nil is none.
func (s *session) fetchSection(q *task, items string) (*literal, error) {
	// Some servers tell of changed flags at their own time, and the library
	// takes that for the answer.
	for range 3 {
		l, told, err := s.fetchSectionOnce(q, items)
		if l != nil || err != nil || !told {
			return l, err
		}
	}
	return nil, nil
}

func (s *session) fetchSectionOnce(q *task, items string) (_ *literal, told bool, err error) {
	s.guard.startCommand(q.verb() + " " + q.number() + " " + items)
	// Of a set of UIDs the library knows what belongs to it only where the UID
	// stands before the section; some servers put it behind.
	set := imap.SeqSet{{Start: 1, Stop: 0}}
	if q.uid == 0 {
		set = imap.SeqSetNum(q.index)
	}
	l := &literal{s: s, messageSize: -1, uid: imap.UID(q.uid), command: s.client.Fetch(set, &imap.FetchOptions{BodySection: []*imap.FetchItemBodySection{{Peek: true}}})}
	for l.message = l.command.Next(); l.message != nil; l.message = l.command.Next() {
		ours := true
		for item := l.message.Next(); item != nil; item = l.message.Next() {
			switch item := item.(type) {
			case imapclient.FetchItemDataUID:
				ours = q.uid == 0 || uint32(item.UID) == q.uid
				if !ours && !discardItems(l.message) {
					<-s.client.Closed()
					return nil, true, s.otherMessageFault()
				}
			case imapclient.FetchItemDataRFC822Size:
				l.messageSize = item.Size
			case imapclient.FetchItemDataBodySection:
				if item.Literal != nil {
					l.start(item)
					return l, true, nil
				}
				ours = false // there is no such section
			case imapclient.FetchItemDataBinarySection:
				return nil, true, s.rejectUnsolicited(item.Literal)
			}
		}
		told = told || ours
	}
	err = s.classify("FETCH", fetch.Denied, l.command.Close())
	if err == nil {
		s.MarkAnswered()
	}
	return nil, told, err
}

// otherFault returns the error where another message than the requested one
// ended the session. A message beyond the limit of an answer says as little
// about the requested one as a short one: that one is absent.
func (s *session) otherMessageFault() error {
	if err := s.classify("FETCH", fetch.Denied, io.ErrUnexpectedEOF); fetch.FaultOf(err) != fetch.TooLarge {
		return err
	}
	return errAbsent
}

// unasked ends a session in which the server sends what nobody has asked for.
func (s *session) rejectUnsolicited(text io.Reader) error {
	s.Break()
	s.Abort()
	if text != nil {
		io.Copy(io.Discard, text)
	}
	<-s.client.Closed()
	return errUnsolicited
}

var errUnsolicited error = fetch.Protocol.Errorf("server sends what it was not asked for")

// skip takes what is left of a message. It is false where a literal failed:
// then nothing more may be taken, for the library goes on meanwhile.
func discardItems(m *imapclient.FetchMessageData) bool {
	_, ok := discardToUID(m)
	return ok
}

// skipToUID is skip, and returns the UID of the message if that is left too.
func discardToUID(m *imapclient.FetchMessageData) (uid imap.UID, ok bool) {
	for item := m.Next(); item != nil; item = m.Next() {
		var text io.Reader
		switch item := item.(type) {
		case imapclient.FetchItemDataUID:
			uid = item.UID
		case imapclient.FetchItemDataBodySection:
			text = item.Literal
		case imapclient.FetchItemDataBinarySection:
			text = item.Literal
		}
		if text != nil {
			if _, err := io.Copy(io.Discard, text); err != nil {
				return uid, false
			}
		}
	}
	return uid, true
}

// finish takes what is left of an answer, from behind the message that was
// taken last.
func (s *session) drainCommand(command *imapclient.FetchCommand) error {
	for m := command.Next(); m != nil; m = command.Next() {
		if !discardItems(m) {
			<-s.client.Closed()
			return io.ErrUnexpectedEOF
		}
	}
	return command.Close()
}

func (l *literal) start(item imapclient.FetchItemDataBodySection) {
	l.s.MarkAnswered()
	l.text, l.size = item.Literal, item.Literal.Size()
	l.remaining, l.fromStart = l.size, item.Section.Partial == nil
	if !l.fromStart {
		l.offset = item.Section.Partial.Offset
	}
	l.s.guard.allowLiteral(l.size)
	l.s.SetReplyTimeout(0)
}

func (l *literal) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || len(p) == 0 {
		return 0, l.err
	}
	n, err := l.text.Read(p)
	l.remaining -= int64(n)
	switch {
	case err == nil && l.remaining > 0:
		return n, nil
	case l.remaining > 0:
		l.truncated = true
	}
	l.s.awaitReply()
	if l.err = l.drain(); l.err == nil {
		l.err = io.EOF
	}
	return n, l.err
}

// finish takes the rest of the answer, and says whether all was well.
func (l *literal) drain() error {
	if _, err := io.Copy(io.Discard, l.unread()); err != nil {
		l.truncated = true
	}
	err := io.ErrUnexpectedEOF
	if l.truncated {
		<-l.s.client.Closed()
	} else if uid, ok := discardToUID(l.message); ok {
		err = l.s.drainCommand(l.command)
		if err == nil && l.uid != 0 && uid != 0 && uid != l.uid {
			return fetch.Protocol.Errorf("server sends message %d, not %d", uid, l.uid)
		}
	}
	switch err := l.s.classify("FETCH", fetch.Denied, err); {
	case l.remaining > 0 && fetch.FaultOf(err) == fetch.Connect:
		return fetch.Truncated.Errorf("message ended %d bytes early: %w", l.remaining, err)
	case fetch.FaultOf(err) == fetch.Connect:
		return fetch.Truncated.Errorf("server did not say that the message was whole: %w", err)
	default:
		return err
	}
}

// unread is what the library waits for us to take: nothing behind an error.
func (l *literal) unread() io.Reader {
	if l.truncated {
		return bytes.NewReader(nil)
	}
	return l.text
}

// Close takes what is left, so that the library's goroutine can go on. The
// connection must be gone, or all of it taken.
func (l *literal) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = net.ErrClosed
		l.drain()
	}
	return nil
}

// drop ends the session of a literal that is of no use.
func (l *literal) abort() {
	l.s.Break()
	l.s.Abort()
	l.Close()
}

// all reads a section that must be small.
func (l *literal) readAll(limit int64) ([]byte, error) {
	if l.size > limit {
		l.abort()
		return nil, fetch.Protocol.Errorf("header of %d bytes, more than %d", l.size, limit)
	}
	text, err := io.ReadAll(l)
	if err != nil {
		l.abort()
	}
	return text, err
}
