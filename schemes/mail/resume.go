package mail

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

// A continued is the listing of a mailbox. Where the server describes a message
// in a way that makes no sense, which ends its session, what is there behind it
// is searched for, and told by a second one.
type resumableLister struct {
	lister
	d         *driver
	ctx       context.Context // of the request whose body this is
	q         *task
	lastUID   uint32         // UID that was told; what follows has higher ones
	second    *sessions.Body // of the second session; nil: there is none yet
	unordered bool           // not in the order of the UIDs: nobody knows what is left
}

// continued makes the listing of resp one that goes on.
func (d *driver) makeResumable(ctx context.Context, q *task, resp *fetch.Response) {
	b := resp.Body.(*sessions.Body)
	if l, ok := b.Reader.(*listingBody); ok {
		ctx, cancel := context.WithCancel(ctx)
		b.Reader = cancelReader{newListing(&resumableLister{lister: l.lister, d: d, ctx: ctx, q: q}), cancel}
	}
}

// canceling ends what a reader waits for, and then the reader.
type cancelReader struct {
	io.ReadCloser
	cancel func()
}

func (c cancelReader) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}

func (c *resumableLister) next() (fetch.Entry, error) {
	for {
		e, err := c.lister.next()
		switch {
		case err == io.EOF && c.second != nil:
			c.second.End(true)
		case err != nil && isUnreadable(err) && c.second == nil && !c.unordered:
			if err := c.resume(); err != nil {
				return e, err
			}
			continue
		case err == nil && !c.advance(e) && c.second != nil:
			continue // "*" is the last message, whatever its number
		}
		return e, err
	}
}

// isNonsense reports whether err is about how a message is described, and not
// about what is done with it.
func isUnreadable(err error) bool {
	fault := fetch.FaultOf(err)
	return err != errUnsolicited && (fault == fetch.Protocol || fault == fetch.TooLarge)
}

// follows notes the UID of e, and reports whether it is a higher one.
func (c *resumableLister) advance(e fetch.Entry) bool {
	n, _ := strconv.ParseUint(e.Extra["uid"], 10, 32)
	if uint32(n) <= c.lastUID {
		c.unordered = true
		return false
	}
	c.lastUID = uint32(n)
	return true
}

// goOn begins the second session.
func (c *resumableLister) resume() error {
	q := *c.q
	q.kind, q.search = kindSearch, fmt.Sprintf("UID %d:*", uint64(c.lastUID)+1)
	resp, err := c.d.request(c.ctx, &q)
	if err != nil {
		return err
	}
	q.req.Trace.Notef("description of a message cannot be read: the listing goes on behind UID %d", c.lastUID)
	c.second = resp.Body.(*sessions.Body)
	c.lister = emptyLister{}
	if l, ok := c.second.Reader.(*listingBody); ok {
		c.lister = l.lister
	}
	return nil
}

func (c *resumableLister) close() {
	if c.second != nil {
		c.second.Close()
		return
	}
	c.lister.close()
}

// nothing is a listing without entries.
type emptyLister struct{}

func (emptyLister) next() (fetch.Entry, error) { return fetch.Entry{}, io.EOF }
func (emptyLister) close()                     {}
