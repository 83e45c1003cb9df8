package mirror

import (
	"crypto/sha256"
	"net/netip"
	"time"

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
	started time.Time // time of the request, also if an earlier visit sent it

	visitStart time.Time // start of this visit

	scheme    fetch.Scheme // scheme of url
	origin    fetch.Origin // origin of url
	hasOrigin bool         // if false, url has no origin

	resp     *fetch.Response // nil if there is no response
	body     *archive.Spool  // the payload, or nil if there is no payload to keep
	digest   [sha256.Size]byte
	size     int64
	exchange *record.Exchange // nil if no request was sent or nothing is recorded

	state         frontier.State
	retry         time.Time
	unreached     bool // if true, the item is left for the next run, because the server could not be reached
	untrusted     bool // if true, the item is left for a run whose seeds the user enters, because the Policy denied it
	note          string
	err           error
	requested     bool   // if true, a request was sent
	listed        bool   // if true, a listing shows the object as unchanged, and no request was sent
	repaired      bool   // if true, the body restored a file that was missing or damaged
	serverRefused bool   // if true, the server sent an error with a complete error page
	unchanged     bool   // if true, the object is unchanged, and no body was retrieved
	sameContent   bool   // if true, the retrieved body equals the archived body
	keepsFile     bool   // if true, the response is a redirect, and the tree keeps the object of an earlier visit
	mark          string // position up to which a newsgroup was read
	left          bool   // if true, the item remains pending for another worker, whose Policy allows the URL
	localFailure  bool   // if true, err has a local cause, such as a full disk, and ends the run

	counts  count   // set by tally.count
	leftOut LeftOut // number of URLs that guards omitted
	// sessionLinks is the number of links with a session identifier or an
	// ignored parameter.
	sessionLinks int64
	noFollow     int64 // number of links that were not followed because of Options.NoFollow
	incomplete   bool  // articles of this newsgroup were omitted because of a limit
	children     []frontier.Item
	reserved     int64 // bytes of memory reserved for children
	memory       *archive.Memory
}

// isNew reports whether v retrieved a new object or a new version of an object.
func (v *visit) isNew() bool {
	return (v.state == frontier.Done || v.state == frontier.Kept) && !v.isUnchanged()
}

// isUnchanged reports whether the archived object of v stays as it is.
func (v *visit) isUnchanged() bool { return v.unchanged || v.sameContent || v.keepsFile }

// redirects reports whether the response of v is a redirect. A redirect is
// recorded even if its target is out of scope.
func (v *visit) redirects() bool {
	return v.resp != nil && v.resp.Fault == nil && !v.resp.Location.IsZero()
}

// free releases the memory and the temporary files of v.
func (v *visit) free() {
	if v.body != nil {
		v.body.Free()
		v.body = nil
	}
	v.exchange.Free()
	v.memory.Free(v.reserved)
	v.children, v.reserved = nil, 0
}

func (v *visit) fail(s frontier.State, err error) *visit {
	v.state, v.err, v.note = s, err, err.Error()
	return v
}

// leaveUnreached leaves the item of v pending for the next run.
func (v *visit) leaveUnreached(err error) *visit {
	v.unreached = true
	return v.fail(frontier.Pending, err)
}

func (v *visit) exclude(reason string) *visit {
	v.state, v.note = frontier.Excluded, reason
	if g, ok := guardOf(reason); ok {
		v.leftOut[g]++
	}
	return v
}

// peer returns the address of the server that sent the response to v. If no
// request was sent, it returns the address of the server that sent the listing
// with v, provided that both URLs have the same origin.
func (v *visit) peer() netip.Addr {
	if v.resp != nil {
		return v.resp.Peer
	}
	listing, err := uri.Parse(v.meta.From)
	if o, ok := originOf(listing); err == nil && ok && o == v.origin {
		return v.meta.Peer
	}
	return netip.Addr{}
}
