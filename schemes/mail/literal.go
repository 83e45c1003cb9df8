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

// A literal reads one body section from a FETCH response. Read returns io.EOF
// only if the section is complete and the server answered the command with OK.
type literal struct {
	s           *session
	command     *imapclient.FetchCommand
	message     *imapclient.FetchMessageData
	text        io.Reader
	size        int64    // length of text in bytes
	fromStart   bool     // if true, the literal starts at the first byte of the section
	offset      int64    // position of the first byte in the section; unused if fromStart is true
	messageSize int64    // RFC822.SIZE in bytes, or -1 if not requested
	uid         imap.UID // UID of the requested message, or 0 for a sequence number

	mu        sync.Mutex // held while imapclient data is read
	remaining int64
	truncated bool // if true, the server sent fewer than size bytes
	err       error
}

// fetchSection sends a FETCH command and returns a reader for the requested
// section. The data items must include one body section. A nil literal means
// that the message or the section does not exist.
func (s *session) fetchSection(q *task, items string) (*literal, error) {
	// Some servers first send unrelated flag updates, which imapclient mistakes
	// for the answer. In this case fetchSection sends the command again.
	for range 3 {
		l, described, err := s.fetchSectionOnce(q, items)
		if l != nil || err != nil || !described {
			return l, err
		}
	}
	return nil, nil
}

func (s *session) fetchSectionOnce(q *task, items string) (_ *literal, described bool, err error) {
	s.clientConn.startCommand(q.verb() + " " + q.number() + " " + items)
	// If a FETCH command has a UID set, imapclient rejects a section that
	// arrives before the UID of its message. Some servers send the UID last.
	// With sequence numbers, imapclient does not check the order.
	set := imap.SeqSet{{Start: 1, Stop: 0}}
	if q.uid == 0 {
		set = imap.SeqSetNum(q.index)
	}
	command := s.client.Fetch(set, &imap.FetchOptions{BodySection: []*imap.FetchItemBodySection{{Peek: true}}})
	l := &literal{s: s, messageSize: -1, uid: imap.UID(q.uid), command: command}
	for l.message = l.command.Next(); l.message != nil; l.message = l.command.Next() {
		matches := true
		for item := l.message.Next(); item != nil; item = l.message.Next() {
			switch item := item.(type) {
			case imapclient.FetchItemDataUID:
				matches = q.uid == 0 || uint32(item.UID) == q.uid
				if !matches && !discardItems(l.message) {
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
				matches = false // the section does not exist
			case imapclient.FetchItemDataBinarySection:
				return nil, true, s.rejectUnsolicited(item.Literal)
			}
		}
		described = described || matches
	}
	err = s.classify("FETCH", fetch.Denied, l.command.Close())
	if err == nil {
		s.MarkAnswered()
	}
	return nil, described, err
}

// otherMessageFault returns the error for a session that was closed while it
// received data about an unrelated message. If this data exceeded the size
// limit, the error is errAbsent.
func (s *session) otherMessageFault() error {
	if err := s.classify("FETCH", fetch.Denied, io.ErrUnexpectedEOF); fetch.FaultOf(err) != fetch.TooLarge {
		return err
	}
	return errAbsent
}

// rejectUnsolicited closes the session and returns an error. It is called if
// the server sent a body section that the client did not request.
func (s *session) rejectUnsolicited(text io.Reader) error {
	s.Break()
	s.Abort()
	if text != nil {
		io.Copy(io.Discard, text)
	}
	<-s.client.Closed()
	return errUnsolicited
}

var errUnsolicited error = fetch.Protocol.Errorf("server sent data that was not requested")

// discardItems reads the remaining data items of the message m. It returns
// false if a literal is truncated. The caller must then stop using m, because
// imapclient still accesses it concurrently.
func discardItems(m *imapclient.FetchMessageData) bool {
	_, ok := discardItemsUID(m)
	return ok
}

// discardItemsUID works like discardItems, but also returns the UID of the
// message, or 0 if the remaining items do not include the UID.
func discardItemsUID(m *imapclient.FetchMessageData) (uid imap.UID, ok bool) {
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

// drainCommand reads the remaining messages of a FETCH response and returns the
// result of the command.
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
	l.s.clientConn.allowLiteral(l.size)
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

// drain reads the remaining FETCH response. It returns an error if the response
// is truncated or the command failed.
func (l *literal) drain() error {
	if _, err := io.Copy(io.Discard, l.unread()); err != nil {
		l.truncated = true
	}
	err := io.ErrUnexpectedEOF
	if l.truncated {
		<-l.s.client.Closed()
	} else if uid, ok := discardItemsUID(l.message); ok {
		err = l.s.drainCommand(l.command)
		if err == nil && l.uid != 0 && uid != 0 && uid != l.uid {
			return fetch.Protocol.Errorf("server sent message %d instead of %d", uid, l.uid)
		}
	}
	switch err := l.s.classify("FETCH", fetch.Denied, err); {
	case l.remaining > 0 && fetch.FaultOf(err) == fetch.Connect:
		return fetch.Truncated.Errorf("message is truncated by %d bytes: %w", l.remaining, err)
	case fetch.FaultOf(err) == fetch.Connect:
		return fetch.Truncated.Errorf("server did not confirm that the message is complete: %w", err)
	default:
		return err
	}
}

// unread returns a reader for the unread bytes of the literal. After an error
// the reader is empty.
func (l *literal) unread() io.Reader {
	if l.truncated {
		return bytes.NewReader(nil)
	}
	return l.text
}

// Close reads the remaining FETCH response, because imapclient must read it
// before it can parse another response. It blocks until the server has sent the
// response, unless the connection is closed.
func (l *literal) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = net.ErrClosed
		l.drain()
	}
	return nil
}

// abort closes the session without reading the remaining bytes of the literal.
func (l *literal) abort() {
	l.s.Break()
	l.s.Abort()
	l.Close()
}

// readAll reads a section of at most limit bytes. If the section is longer, or
// takes longer than [sessions.ReplyTimeout], readAll closes the session and
// returns an error.
func (l *literal) readAll(limit int64) ([]byte, error) {
	if l.size > limit {
		l.abort()
		return nil, fetch.Protocol.Errorf("header is %d bytes long, more than the limit of %d", l.size, limit)
	}
	l.s.awaitReply() // fetch.Client limits only the time of body reads
	text, err := io.ReadAll(l)
	if err != nil {
		l.abort()
	}
	return text, err
}
