package mail

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A resumableLister is a mailbox listing that continues after a malformed
// response. If the server sends malformed data about a message, imapclient
// closes the session. The lister then opens a second session and lists the
// messages with higher UIDs.
type resumableLister struct {
	lister
	d         *driver
	ctx       context.Context // context of the request
	q         *task
	lastUID   uint32         // UID of the last entry; the second session lists higher UIDs
	second    *sessions.Body // response body of the second session, or nil
	unordered bool           // if true, the UIDs were not ascending, so resuming is not possible
}

// makeResumable replaces the body of resp by a listing that continues after a
// malformed response.
func (d *driver) makeResumable(ctx context.Context, q *task, resp *fetch.Response) {
	b := resp.Body.(*sessions.Body)
	if l, ok := b.Reader.(*listingBody); ok {
		ctx, cancel := context.WithCancel(ctx)
		listing := newListing(&resumableLister{lister: l.lister, d: d, ctx: ctx, q: q})
		b.Reader = sessions.NewBody(listing, func() { // a pending Read must end before the listing is closed
			cancel()
			listing.Close()
		})
	}
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
			continue // a search for "*" finds the last message even if its UID is lower
		}
		return e, err
	}
}

// isUnreadable reports whether err means that the server sent malformed or
// oversized data about a message.
func isUnreadable(err error) bool {
	fault := fetch.FaultOf(err)
	return err != errUnsolicited && (fault == fetch.Protocol || fault == fetch.TooLarge)
}

// advance records the UID of the entry e. It returns false if the UID is not
// higher than the UID of the previous entry.
func (c *resumableLister) advance(e fetch.Entry) bool {
	n, _ := strconv.ParseUint(e.Extra["uid"], 10, 32)
	if uint32(n) <= c.lastUID {
		c.unordered = true
		return false
	}
	c.lastUID = uint32(n)
	return true
}

// resume opens a second session and continues the listing after the UID of the
// last entry.
func (c *resumableLister) resume() error {
	q := *c.q
	q.kind, q.search = kindSearch, fmt.Sprintf("UID %d:*", uint64(c.lastUID)+1)
	resp, err := c.d.request(c.ctx, &q)
	if err != nil {
		return err
	}
	q.req.Trace.Notef("server sent a malformed description of a message: continuing after UID %d", c.lastUID)
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

// An emptyLister is a listing without entries.
type emptyLister struct{}

func (emptyLister) next() (fetch.Entry, error) { return fetch.Entry{}, io.EOF }
func (emptyLister) close()                     {}
