package mirror

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc/record"
)

// A visit describes the request for the URL of one item, and its result.
type visit struct {
	item    frontier.Item
	meta    meta
	url     uri.URI
	text    string       // canonical form of url
	scheme  fetch.Scheme // scheme of url
	origin  fetch.Origin // origin of url; zero if url has none
	began   time.Time    // start of this visit
	started time.Time    // time of the request, also if an earlier visit sent it

	requested bool            // if true, a request was sent
	resp      *fetch.Response // nil if there is no response
	body      *archive.Spool  // the payload, or nil if there is no payload to keep
	digest    [sha256.Size]byte
	size      int64
	exchange  *record.Exchange  // nil if no request was sent or if exchanges are not recorded
	captured  *capture.Exchange // exchange of a browser, in place of exchange, or nil
	page      *openedPage       // the requests of the page in a browser, or nil
	mark      string            // position up to which a newsgroup was read

	outcome outcome
	content content
	retry   time.Time // time of the next attempt, if outcome is visitRetried
	err     error
	note    string // reason of the outcome
	counts  count  // set by tally.count

	unconditional bool // if true, the request has no condition, so that the server sends the object

	findings
}

// An outcome is the result of a visit. It determines the next state of the item.
type outcome uint8

const (
	visitDone     outcome = iota // the object was retrieved or is unchanged; see content
	visitKept                    // like visitDone, and the object is never requested again
	visitGone                    // the object was deleted on the server
	visitDead                    // failed permanently
	visitExcluded                // out of scope, denied by the Policy, or rejected

	// The item of such a visit remains pending.
	visitRetried   // for a later visit of this run
	visitUnreached // for the next run, because the server could not be reached
	visitUntrusted // for a run whose seeds the user enters, because the Policy denied it
	visitYielded   // for another worker, whose Policy allows the URL
	visitAborted   // an error of this machine, such as a full disk, ends the run
)

// nextStates contains the state of an item after each outcome.
var nextStates = [...]frontier.State{
	visitDone: frontier.Done, visitKept: frontier.Kept, visitGone: frontier.Gone, visitDead: frontier.Dead,
	visitExcluded: frontier.Excluded, visitRetried: frontier.Pending, visitUnreached: frontier.Pending,
	visitUntrusted: frontier.Pending, visitYielded: frontier.Pending, visitAborted: frontier.Pending,
}

// state returns the state of an item after the outcome o.
func (o outcome) state() frontier.State { return nextStates[o] }

// succeeded reports whether the archive has the object after the visit.
func (o outcome) succeeded() bool { return o == visitDone || o == visitKept }

// content is the relation between the object of a visit and the archived object.
type content uint8

const (
	contentNew       content = iota // the object is new, or has a new version
	contentSame                     // the retrieved body equals the archived body
	contentRestored                 // like contentSame, and the file or the record of the archived body was missing
	contentUnchanged                // no body was retrieved, because the object is unchanged
	contentListed                   // like contentUnchanged, and a listing shows this, so that no request was sent
	contentFileKept                 // the response is a redirect, and the tree keeps the file of an earlier visit
	contentErrorPage                // the body is a complete error page of the server
)

// isSame reports whether the retrieved body equals the archived body.
func (c content) isSame() bool { return c == contentSame || c == contentRestored }

// isUnchanged reports whether no body was retrieved, because the object is
// unchanged.
func (c content) isUnchanged() bool { return c == contentUnchanged || c == contentListed }

// isArchived reports whether the archived object stays as it is.
func (c content) isArchived() bool { return c.isSame() || c.isUnchanged() || c == contentFileKept }

// findings contains the links that a visit found.
type findings struct {
	children     []frontier.Item
	links        []Link // only if there is a Sink
	memory       *archive.Memory
	reserved     int64   // bytes of memory that are reserved for children
	leftOut      LeftOut // number of URLs that guards omitted
	sessionLinks int64   // number of links with a session identifier or an ignored parameter
	noFollow     int64   // number of links that were not followed because of Options.NoFollow
	incomplete   bool    // articles of this newsgroup were omitted because of a limit
}

// parseURL sets the URL of v. The database may have another form of the URL, such
// as one with dot segments. The requested URL is the canonical form, because the
// scope and the trust depend on it. It has no userinfo: only credentials that the
// user entered are used.
func (v *visit) parseURL() (err error) {
	if v.url, err = uri.Parse(v.item.URL); err != nil {
		return err
	}
	v.text = archive.Canonical(v.url)
	if v.text == v.item.URL {
		return nil
	}
	v.url, err = uri.Parse(v.text)
	return err
}

// hasOrigin reports whether the URL of v has an origin.
func (v *visit) hasOrigin() bool { return v.origin != fetch.Origin{} }

// isNew reports whether v retrieved a new object or a new version of an object.
func (v *visit) isNew() bool { return v.outcome.succeeded() && !v.content.isArchived() }

// redirects reports whether the response of v is a redirect. A redirect is
// recorded even if its target is out of scope.
func (v *visit) redirects() bool {
	return v.resp != nil && v.resp.Fault == nil && !v.resp.Location.IsZero()
}

// heldBytes returns the size of the objects, exchanges and copies that v holds
// until its commit.
func (v *visit) heldBytes() int64 {
	n := v.size
	if v.page != nil {
		n += v.page.extraBytes()
		for _, w := range v.page.companions {
			n += w.size
		}
	}
	return n
}

// smallHeads is the size of the heads of a visit that are not counted. Those of
// usual responses have one or two KiB.
const smallHeads = 16 << 10

// reserveHeads reserves memory for the heads of the responses of v until its
// commit. It returns false if no memory is left.
func (v *visit) reserveHeads() bool {
	n := sizeOfHead(v.resp)
	if v.page != nil {
		for _, w := range v.page.companions {
			n += sizeOfHead(w.resp)
		}
		for _, x := range v.page.extra {
			n += sizeOfHead(x.Response)
		}
	}
	if n *= headCopies; n <= smallHeads {
		return true
	}
	if !v.memory.Reserve(n) {
		return false
	}
	v.reserved += n
	return true
}

// fieldMemory is the memory for a header field without its text, in bytes.
const fieldMemory = 32

func sizeOfHead(resp *fetch.Response) int64 {
	if resp == nil {
		return 0
	}
	return int64(len(resp.Head) + fieldMemory*len(resp.Header))
}

// free releases the memory and the temporary files of v.
func (v *visit) free() {
	v.freeBody()
	v.exchange.Free()
	if v.captured != nil {
		v.captured.Free()
	}
	v.page.free()
	v.memory.Free(v.reserved)
	v.children, v.links, v.reserved = nil, nil, 0
}

func (v *visit) freeBody() {
	if v.body != nil {
		v.body.Free()
		v.body = nil
	}
}

func (v *visit) fail(o outcome, err error) *visit {
	v.outcome, v.err, v.note = o, err, err.Error()
	return v
}

func (v *visit) exclude(reason string) *visit {
	v.outcome, v.note = visitExcluded, reason
	if g, ok := guardOf(reason); ok {
		v.leftOut[g]++
	}
	return v
}

// isConfirmed reports whether this process has received the response to v, or the
// listing that shows that v needs no request.
func (v *visit) isConfirmed() bool { return v.resp != nil || v.meta.Found }

// peer returns the address of the server that sent the response to v. If no
// request was sent, it returns the address of the server that sent the listing
// with v, provided that this process has read the listing and that both URLs have
// the same origin.
func (v *visit) peer() netip.Addr {
	if v.resp != nil {
		return v.resp.Peer
	}
	listing, err := uri.Parse(v.meta.From)
	if o, ok := originOf(listing); err == nil && ok && o == v.origin && v.meta.Found {
		return v.meta.Peer
	}
	return netip.Addr{}
}
