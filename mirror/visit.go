package mirror

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A visit is the processing of one item and its result.
type visit struct {
	item    frontier.Item
	meta    meta
	url     uri.URI
	started time.Time

	scheme    fetch.Scheme // scheme of url
	origin    fetch.Origin // origin of url
	hasOrigin bool         // whether url has an origin

	resp     *fetch.Response // nil without a response
	body     *archive.Spool  // the payload; nil without a payload, or if it is not kept
	digest   [sha256.Size]byte
	size     int64
	recorder *recorder

	state         frontier.State
	retry         time.Time
	parked        bool // pending for the next run, because the server could not be reached
	note          string
	err           error
	requested     bool   // a request was sent
	listed        bool   // unchanged according to a listing, without a request
	repaired      bool   // sameContent, and the file was missing or damaged
	serverRefused bool   // err comes from the server, with a complete error page
	unchanged     bool   // the archive has the object, and no body was retrieved
	sameContent   bool   // the retrieved body is the same as in the archive
	mark          string // position up to which a newsgroup was read
	localFailure  bool   // err has a local cause, such as a full disk, and ends the run

	leftOut    LeftOut // number of URLs that guards omitted
	incomplete bool    // articles of this newsgroup were omitted because of a limit
	children   []frontier.Item
	reserved   int64 // bytes of memory reserved for children
	memory     *archive.Memory
}

// isNew reports whether v retrieved an object or a version that the archive
// lacks.
func (v *visit) isNew() bool {
	return (v.state == frontier.Done || v.state == frontier.Kept) && !v.unchanged && !v.sameContent
}

// redirects reports whether the response is a redirect. A redirect is recorded
// even if its target is out of scope.
func (v *visit) redirects() bool {
	return v.resp != nil && v.resp.Fault == nil && !v.resp.Location.IsZero()
}

// free releases the memory and the files of v.
func (v *visit) free() {
	if v.body != nil {
		v.body.Free()
		v.body = nil
	}
	if v.recorder != nil {
		v.recorder.free()
	}
	v.memory.Free(v.reserved)
	v.children, v.reserved = nil, 0
}

func (v *visit) fail(s frontier.State, err error) *visit {
	v.state, v.err, v.note = s, err, err.Error()
	return v
}

// park leaves the item of v pending for the next run.
func (v *visit) park(err error) *visit {
	v.parked = true
	return v.fail(frontier.Pending, err)
}

func (v *visit) exclude(reason string) *visit {
	v.state, v.note = frontier.Excluded, reason
	if g, ok := guardOf(reason); ok {
		v.leftOut[g]++
	}
	return v
}

// peer returns the address of the server that sent the response to v. Without a
// request, it returns the address of the server of the listing that led to v if
// both have the same origin.
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
