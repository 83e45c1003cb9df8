package mail

import (
	"context"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/format/mailstore"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// MboxMedia is the media type of responses in the mbox format (RFC 4155).
const MboxMedia = "application/mbox"

// mboxResponse returns the messages of a mailbox or a search as one mbox file.
func (d *driver) mboxResponse(ctx context.Context, q *task) (*fetch.Response, error) {
	q.searchAll()
	ctx, cancel := context.WithCancelCause(ctx)
	resp := &fetch.Response{Kind: fetch.Document, Media: MboxMedia, Size: -1}
	var err error
	resp.Body, err = newSequenceReader(ctx, cancel, mboxChunks(d.searchMessages(ctx, q, resp)))
	return resp, err
}

// searchAll converts the locator of a mailbox to a search for all messages in
// the mailbox.
func (l *locator) searchAll() {
	if l.kind == kindMailbox {
		l.kind, l.search = kindSearch, "ALL"
	}
}

// searchMessages iterates over the messages that the search q finds. Before the
// first message, it copies the connection details (Proto, Peer and TLS) to dst.
func (d *driver) searchMessages(ctx context.Context, q *task, dst *fetch.Response) iter.Seq2[storedMessage, error] {
	search, req := *q, *q.req
	req.Trace = oneAtATime(req.Trace)
	search.req, q = &req, &search
	return func(yield func(storedMessage, error) bool) {
		resp, err := d.request(ctx, q)
		if err != nil {
			yield(storedMessage{}, err)
			return
		}
		defer resp.Body.Close()
		dst.Proto, dst.Peer, dst.TLS = resp.Proto, resp.Peer, resp.TLS
		list, ok := resp.Body.(*sessions.Body).Reader.(*listingBody)
		if !ok {
			return // the search found no messages
		}
		for {
			e, err := list.lister.next()
			if err == io.EOF {
				resp.Body.(*sessions.Body).End(true)
				return
			}
			if !yield(d.searchedMessage(ctx, q, e), err) || err != nil {
				return
			}
		}
	}
}

// oneAtATime returns a copy of t that passes only the first notes, and whose
// functions for bytes are not called concurrently. The client of the search reads
// in a separate goroutine while another session retrieves a message.
func oneAtATime(t *trace.Trace) *trace.Trace {
	if t == nil {
		return nil
	}
	var mu sync.Mutex
	lock := func(f func([]byte)) func([]byte) {
		if f == nil {
			return nil
		}
		return func(p []byte) {
			mu.Lock()
			defer mu.Unlock()
			f(p)
		}
	}
	locked := *t
	locked.Sent, locked.Received = lock(t.Sent), lock(t.Received)
	if t.Note != nil {
		locked.Note = limitNotes(t.Note)
	}
	return &locked
}

// maxNoted is the maximum number of notes about the messages of a search.
const maxNoted = 20

// limitNotes returns a function that passes the first notes to note. A server can
// list any number of messages that it then reports as deleted.
func limitNotes(note func(string)) func(string) {
	var noted atomic.Int64
	return func(text string) {
		switch n := noted.Add(1); {
		case n <= maxNoted:
			note(text)
		case n == maxNoted+1:
			note("further notes are omitted")
		}
	}
}

// searchedMessage returns the storedMessage for the listing entry e. Its open
// function uses a second session, because the first session is still reading
// the listing.
func (d *driver) searchedMessage(ctx context.Context, q *task, e fetch.Entry) storedMessage {
	return storedMessage{e, func() (io.ReadCloser, error) {
		l, err := parseLocator(e.URL)
		if err != nil {
			return nil, err
		}
		messageTask := *q
		messageTask.locator, messageTask.req = l, &fetch.Request{URL: q.req.URL, Trace: q.req.Trace}
		resp, err := d.request(ctx, &messageTask)
		if err != nil {
			if err == errAbsent {
				q.req.Trace.Notef("message %s was deleted during the listing", l.number())
			}
			return nil, err
		}
		return resp.Body, nil
	}}
}

// receivedTime returns the INTERNALDATE of a message without a Date field, or
// the zero time if the date is unknown, or if the server does not send it in time.
// It uses a second session, because the first session is still reading the
// message.
func (d *driver) receivedTime(ctx context.Context, q *task) time.Time {
	ctx, cancel := context.WithTimeout(ctx, sessions.ReplyTimeout)
	defer cancel()
	searchTask := *q
	searchTask.kind, searchTask.search = kindSearch, q.number()
	if q.uid != 0 {
		searchTask.search = "UID " + searchTask.search
	}
	searchTask.req = &fetch.Request{URL: q.req.URL, Trace: q.req.Trace}
	resp, err := d.request(ctx, &searchTask)
	if err != nil {
		return time.Time{}
	}
	defer resp.Body.Close()
	list, ok := resp.Body.(*sessions.Body).Reader.(*listingBody)
	if !ok {
		return time.Time{}
	}
	e, err := list.lister.next()
	if err != nil {
		return time.Time{}
	}
	return e.Time
}

func mboxChunks(messages iter.Seq2[storedMessage, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		out := mailstore.NewMbox(writerFunc(func(b []byte) bool { return yield(b, nil) }))
		for m, err := range messages {
			if err == nil {
				err = appendMessage(out, m)
			}
			if err == errClosed {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

func appendMessage(out *mailstore.Mbox, m storedMessage) error {
	message, err := m.open()
	if err == errAbsent {
		return nil
	}
	if err != nil {
		return err
	}
	defer message.Close()
	return out.Append(message, m.Time)
}

// A writerFunc is an io.Writer that passes each slice to the function. If the
// function returns false, Write returns errClosed.
type writerFunc func([]byte) bool

func (p writerFunc) Write(b []byte) (int, error) {
	if !p(b) {
		return 0, errClosed
	}
	return len(b), nil
}
