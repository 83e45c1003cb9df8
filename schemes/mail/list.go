package mail

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// mailboxes lists what the server has.
func (s *session) mailboxes(q *task) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1}
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	n := newNamer(q.req.URL)
	s.guard.begin("")
	command := s.client.List("", "*", nil)
	resp.Body = s.listing("LIST", command, func() (fetch.Entry, bool) {
		data := command.Next()
		if data == nil {
			return fetch.Entry{}, false
		}
		return n.mailboxEntry(data), true
	})
	return resp, nil
}

// summary is what a listing tells of each message.
const summary = "(UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)"

// messages lists a mailbox.
func (s *session) messages(q *task) (*fetch.Response, error) {
	resp := s.mailbox.response()
	if q.req.Op == fetch.Stat || s.mailbox.messages == 0 {
		return resp, nil
	}
	resp.Body = s.summaries(newNamer(q.req.URL), imap.UIDSet{{Start: 1, Stop: 0}})
	return resp, nil
}

// response tells what EXAMINE told.
func (m *mailbox) response() *fetch.Response {
	return &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1, Header: fetch.Header{
		{Name: "Messages", Value: fmt.Sprint(m.messages)},
		{Name: "UIDVALIDITY", Value: fmt.Sprint(m.validity)},
		{Name: "UIDNEXT", Value: fmt.Sprint(m.next)},
	}}
}

func (s *session) summaries(n namer, set imap.UIDSet) *listing {
	m := s.mailbox
	s.guard.begin("UID FETCH " + set.String() + " " + summary)
	command := s.client.Fetch(set, &imap.FetchOptions{UID: true})
	return s.listing("FETCH", command, func() (fetch.Entry, bool) {
		for data := command.Next(); data != nil; data = command.Next() {
			if b, err := data.Collect(); err == nil && b.UID != 0 {
				return n.messageEntry(m, b), true
			}
		}
		return fetch.Entry{}, false
	})
}

// A listing is an answer of many lines as a Body. Like a literal it must be
// taken to its end.
type listing struct {
	io.Reader
	s       *session
	verb    string
	command io.Closer // of the library; takes the rest of the answer
	mu      sync.Mutex
	err     error
}

// listing makes a Body of what next returns, until it returns false.
func (s *session) listing(verb string, command io.Closer, next func() (fetch.Entry, bool)) *listing {
	l := &listing{s: s, verb: verb, command: command}
	l.Reader = entries.NewReader(func() (fetch.Entry, error) {
		if l.err != nil {
			return fetch.Entry{}, l.err
		}
		if e, ok := next(); ok {
			s.reused = false
			s.guard.refill()
			return e, nil
		}
		if l.err = s.fault(verb, fetch.Denied, command.Close()); l.err == nil {
			l.err = io.EOF
		}
		return fetch.Entry{}, l.err
	})
	return l
}

func (l *listing) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.Reader.Read(p)
	if err != io.EOF && fetch.FaultOf(err) == fetch.Connect {
		err = fetch.Truncated.Errorf("listing ended early: %w", err)
	}
	return n, err
}

// Close needs the connection to be gone, or all taken.
func (l *listing) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = errors.New("listing is closed")
		l.command.Close()
	}
	return nil
}

var (
	_ io.Closer = (*imapclient.ListCommand)(nil)
	_ io.Closer = (*imapclient.FetchCommand)(nil)
)
