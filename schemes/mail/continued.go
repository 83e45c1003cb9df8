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
type continued struct {
	lister
	d    *driver
	ctx  context.Context // of the request whose body this is
	q    *task
	last uint32         // UID that was told; what follows has higher ones
	rest *sessions.Body // of the second session; nil: there is none yet
	torn bool           // not in the order of the UIDs: nobody knows what is left
}

// continued makes the listing of resp one that goes on.
func (d *driver) continued(ctx context.Context, q *task, resp *fetch.Response) {
	b := resp.Body.(*sessions.Body)
	if l, ok := b.Reader.(*listing); ok {
		ctx, cancel := context.WithCancel(ctx)
		b.Reader = canceling{newListing(&continued{lister: l.from, d: d, ctx: ctx, q: q}), cancel}
	}
}

// canceling ends what a reader waits for, and then the reader.
type canceling struct {
	io.ReadCloser
	cancel func()
}

func (c canceling) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}

func (c *continued) next() (fetch.Entry, error) {
	for {
		e, err := c.lister.next()
		switch {
		case err == io.EOF && c.rest != nil:
			c.rest.End(true)
		case err != nil && isNonsense(err) && c.rest == nil && !c.torn:
			if err := c.goOn(); err != nil {
				return e, err
			}
			continue
		case err == nil && !c.follows(e) && c.rest != nil:
			continue // "*" is the last message, whatever its number
		}
		return e, err
	}
}

// isNonsense reports whether err is about how a message is described, and not
// about what is done with it.
func isNonsense(err error) bool {
	fault := fetch.FaultOf(err)
	return err != errUnasked && (fault == fetch.Protocol || fault == fetch.TooLarge)
}

// follows notes the UID of e, and reports whether it is a higher one.
func (c *continued) follows(e fetch.Entry) bool {
	n, _ := strconv.ParseUint(e.Extra["uid"], 10, 32)
	if uint32(n) <= c.last {
		c.torn = true
		return false
	}
	c.last = uint32(n)
	return true
}

// goOn begins the second session.
func (c *continued) goOn() error {
	q := *c.q
	q.kind, q.search = found, fmt.Sprintf("UID %d:*", uint64(c.last)+1)
	resp, err := c.d.ask(c.ctx, &q)
	if err != nil {
		return err
	}
	q.req.Trace.Notef("description of a message cannot be read: the listing goes on behind UID %d", c.last)
	c.rest = resp.Body.(*sessions.Body)
	c.lister = nothing{}
	if l, ok := c.rest.Reader.(*listing); ok {
		c.lister = l.from
	}
	return nil
}

func (c *continued) close() {
	if c.rest != nil {
		c.rest.Close()
		return
	}
	c.lister.close()
}

// nothing is a listing without entries.
type nothing struct{}

func (nothing) next() (fetch.Entry, error) { return fetch.Entry{}, io.EOF }
func (nothing) close()                     {}
