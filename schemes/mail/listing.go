package mail

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// listMailboxes returns a response that lists all mailboxes on the server.
func (s *session) listMailboxes(q *task) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1}
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	resp.Body = newListing(s.newMailboxLister(newNamer(q.req.URL), "*"))
	return resp, nil
}

// listChildren returns a response that lists the mailboxes below q.mailbox. The
// server must mark q.mailbox as \Noselect, which means that it cannot be opened
// and only contains other mailboxes. Otherwise listChildren returns err, the
// error of the failed EXAMINE command.
func (s *session) listChildren(q *task, err error) (*fetch.Response, error) {
	if strings.ContainsAny(q.mailbox, "*%") { // LIST would interpret the name as a pattern
		return nil, err
	}
	s.clientConn.startList()
	found, failed := s.client.List("", q.mailbox, nil).Collect()
	if failed = s.classify("LIST", fetch.Denied, failed); s.IsBroken() {
		return nil, failed
	}
	if failed != nil || len(found) != 1 || found[0].Delim == 0 {
		return nil, err
	}
	if !slices.Contains(found[0].Attrs, imap.MailboxAttrNoSelect) {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1}
	if q.req.Op != fetch.Stat {
		resp.Body = newListing(s.newMailboxLister(newNamer(q.req.URL), q.mailbox+string(found[0].Delim)+"*"))
	}
	return resp, nil
}

// newMailboxLister sends the LIST command and returns a lister of the mailboxes
// that match pattern.
func (s *session) newMailboxLister(n namer, pattern string) *responseLister {
	s.clientConn.startList()
	command := s.client.List("", pattern, nil)
	return &responseLister{s: s, verb: "LIST", drain: command.Close, nextEntry: func() (fetch.Entry, bool) {
		for data := command.Next(); data != nil; data = command.Next() {
			if strings.Trim(data.Mailbox, string(data.Delim)) != "" {
				return n.mailboxEntry(data), true
			}
			s.clientConn.refill() // the root of the hierarchy is not a mailbox
		}
		return fetch.Entry{}, false
	}}
}

// summaryItems are the FETCH data items that a listing requests for each
// message.
const summaryItems = "(UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)"

// listMessages returns a response that lists the messages in the selected
// mailbox.
func (s *session) listMessages(q *task) (*fetch.Response, error) {
	resp := s.mailbox.listingResponse()
	if q.req.Op == fetch.Stat || s.mailbox.messages == 0 {
		return resp, nil
	}
	resp.Body = newListing(s.newSummaryLister(newNamer(q.req.URL), imap.UIDSet{{Start: 1, Stop: 0}}, nil))
	return resp, nil
}

// listingResponse returns a response with the message count, UIDVALIDITY and
// UIDNEXT of the mailbox as header fields. The response has no body.
func (m *mailbox) listingResponse() *fetch.Response {
	return &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1, Header: fetch.Header{
		{Name: "Messages", Value: fmt.Sprint(m.messages)},
		{Name: "UIDVALIDITY", Value: fmt.Sprint(m.validity)},
		{Name: "UIDNEXT", Value: fmt.Sprint(m.uidNext)},
	}}
}

// newSummaryLister sends a FETCH command for the messages in set. The lister
// returns the messages that filter accepts. A nil filter accepts all messages.
func (s *session) newSummaryLister(n namer, set imap.UIDSet, filter func(*imap.Envelope) bool) *responseLister {
	m := s.mailbox
	s.clientConn.startCommand("UID FETCH " + set.String() + " " + summaryItems)
	command := s.client.Fetch(set, &imap.FetchOptions{UID: true})
	x := &responseLister{s: s, verb: "FETCH", drain: func() error { return s.drainCommand(command) }}
	x.nextEntry = func() (fetch.Entry, bool) {
		for data := command.Next(); data != nil; data = command.Next() {
			b, err := s.readSummary(data)
			if err != nil {
				x.err = err
				return fetch.Entry{}, false
			}
			if b.UID != 0 && (filter == nil || b.Envelope != nil && filter(b.Envelope)) {
				return n.messageEntry(m, b), true
			}
			s.clientConn.refill()
		}
		return fetch.Entry{}, false
	}
	return x
}

// readSummary reads the FETCH data items of one message in a listing.
func (s *session) readSummary(data *imapclient.FetchMessageData) (*imapclient.FetchMessageBuffer, error) {
	b := new(imapclient.FetchMessageBuffer)
	for item := data.Next(); item != nil; item = data.Next() {
		switch item := item.(type) {
		case imapclient.FetchItemDataUID:
			b.UID = item.UID
		case imapclient.FetchItemDataFlags:
			b.Flags = item.Flags
		case imapclient.FetchItemDataInternalDate:
			b.InternalDate = item.Time
		case imapclient.FetchItemDataRFC822Size:
			b.RFC822Size = item.Size
		case imapclient.FetchItemDataEnvelope:
			b.Envelope = item.Envelope
		case imapclient.FetchItemDataBodySection:
			return nil, s.rejectUnsolicited(item.Literal)
		case imapclient.FetchItemDataBinarySection:
			return nil, s.rejectUnsolicited(item.Literal)
		}
	}
	return b, nil
}

// A responseLister reads listing entries from a LIST or FETCH response. The
// response must be read completely before the session can send another command.
type responseLister struct {
	s         *session
	verb      string
	drain     func() error               // reads and discards the remaining response
	nextEntry func() (fetch.Entry, bool) // returns false after the last entry or an error
	err       error
}

func (x *responseLister) next() (fetch.Entry, error) {
	if x.err != nil {
		return fetch.Entry{}, x.err
	}
	if e, ok := x.nextEntry(); ok {
		x.s.MarkAnswered()
		x.s.clientConn.refill()
		return e, nil
	}
	if x.err != nil {
		return fetch.Entry{}, x.err
	}
	if x.err = x.s.classify(x.verb, fetch.Denied, x.drain()); x.err == nil {
		x.err = io.EOF
	} else if fetch.FaultOf(x.err) == fetch.Connect {
		x.err = fetch.Truncated.Errorf("listing is truncated: %w", x.err)
	}
	return fetch.Entry{}, x.err
}

// close reads the remaining response and closes the lister. It blocks until the
// server has sent the response, unless the connection is closed.
func (x *responseLister) close() {
	if x.err == nil {
		x.err = errClosed
		x.drain()
	}
}

var errClosed = errors.New("listing is closed")

// A lister returns the entries of a listing. The error after the last entry is
// io.EOF.
type lister interface {
	next() (fetch.Entry, error)
	close()
}

// A listingBody is a response body with the encoded entries of a lister. Close
// may be called concurrently with Read.
type listingBody struct {
	lister lister
	reader io.Reader
	mu     sync.Mutex
}

func newListing(from lister) *listingBody {
	return &listingBody{lister: from, reader: entries.NewReader(from.next)}
}

func (l *listingBody) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reader.Read(p)
}

func (l *listingBody) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lister.close()
	return nil
}
