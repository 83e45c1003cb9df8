package mail

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/mailstore"
	"github.com/anyurl/fetch/internal/sessions"
)

// MboxMedia is the media type of what Options.Mbox brings (RFC 4155).
const MboxMedia = "application/mbox"

// mbox brings the messages of a listing themselves.
func (d *driver) mbox(ctx context.Context, q *task) (*fetch.Response, error) {
	q.wholeMailbox()
	ctx, cancel := context.WithCancel(ctx)
	resp := &fetch.Response{Kind: fetch.Document, Media: MboxMedia, Size: -1}
	var err error
	resp.Body, err = newPulled(cancel, mboxOf(d.letters(ctx, q, resp)))
	return resp, err
}

// wholeMailbox makes a search of what names a mailbox.
func (l *locator) wholeMailbox() {
	if l.kind == messages {
		l.kind, l.search = found, "ALL"
	}
}

// letters are the messages that the search of q finds. What is known of the
// connection once the first comes is noted in as.
func (d *driver) letters(ctx context.Context, q *task, as *fetch.Response) iter.Seq2[letter, error] {
	return func(yield func(letter, error) bool) {
		resp, err := d.ask(ctx, q)
		if err != nil {
			yield(letter{}, err)
			return
		}
		defer resp.Body.Close()
		as.Proto, as.Peer, as.TLS = resp.Proto, resp.Peer, resp.TLS
		list, ok := resp.Body.(*sessions.Body).Reader.(*listing)
		if !ok {
			return // nothing is found
		}
		for {
			e, err := list.from.next()
			if err == io.EOF {
				resp.Body.(*sessions.Body).End(true)
				return
			}
			if !yield(d.letter(ctx, q, e), err) || err != nil {
				return
			}
		}
	}
}

// letter is the message of an entry. It comes over another session: that of q
// is telling what it has.
func (d *driver) letter(ctx context.Context, q *task, e fetch.Entry) letter {
	return letter{e, func() (io.ReadCloser, error) {
		l, err := locate(e.URL)
		if err != nil {
			return nil, err
		}
		one := *q
		one.locator, one.req = l, &fetch.Request{URL: q.req.URL, Trace: q.req.Trace}
		resp, err := d.ask(ctx, &one)
		if err != nil {
			if err == errAbsent {
				q.req.Trace.Notef("message %s has gone meanwhile", l.number())
			}
			return nil, err
		}
		return resp.Body, nil
	}}
}

// received returns the INTERNALDATE of the message of q, whose head has no
// date. The listing that has it comes over another session, because that of q
// is sending the message. The zero time is unknown.
func (d *driver) received(ctx context.Context, q *task) time.Time {
	one := *q
	one.kind, one.search = found, q.number()
	if q.uid != 0 {
		one.search = "UID " + one.search
	}
	one.req = &fetch.Request{URL: q.req.URL, Trace: q.req.Trace}
	resp, err := d.ask(ctx, &one)
	if err != nil {
		return time.Time{}
	}
	defer resp.Body.Close()
	list, ok := resp.Body.(*sessions.Body).Reader.(*listing)
	if !ok {
		return time.Time{}
	}
	e, err := list.from.next()
	if err != nil {
		return time.Time{}
	}
	return e.Time
}

func mboxOf(letters iter.Seq2[letter, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		out := mailstore.NewMbox(pushed(func(b []byte) bool { return yield(b, nil) }))
		for l, err := range letters {
			if err == nil {
				err = appendLetter(out, l)
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

func appendLetter(out *mailstore.Mbox, l letter) error {
	message, err := l.open()
	if err == errAbsent {
		return nil
	}
	if err != nil {
		return err
	}
	defer message.Close()
	return out.Append(message, l.Time)
}

// pushed is a Writer that hands on what it gets, until it is told to stop.
type pushed func([]byte) bool

func (p pushed) Write(b []byte) (int, error) {
	if !p(b) {
		return 0, errClosed
	}
	return len(b), nil
}
