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

// visit is what one item turned out to be.
type visit struct {
	item    frontier.Item
	meta    meta
	url     uri.URI
	started time.Time

	scheme    fetch.Scheme // of url
	origin    fetch.Origin // of url
	hasOrigin bool         // which has one

	resp     *fetch.Response // nil: there was no answer
	body     *archive.Spool  // the payload; nil: none, or not to be kept
	digest   [sha256.Size]byte
	size     int64
	recorder *recorder

	state         frontier.State
	retry         time.Time
	parked        bool // pending until the next run: the server could not be reached
	note          string
	err           error
	requested     bool   // there was a request
	listed        bool   // a listing proves that it is unchanged; there was no request
	repaired      bool   // repeated, and its file was missing or damaged
	serverRefused bool   // err is the server's, and its page is whole
	unchanged     bool   // as it was, and not brought again
	sameContent   bool   // brought again, and it is as it was
	mark          string // how far a newsgroup was read
	localFailure  bool   // the error is ours: the run ends

	omitted        int64 // URLs that are left out, by Limits.Links or Limits.Entries
	omittedEntries bool  // by the latter
	incomplete     bool  // articles of this newsgroup are left out, by these or Limits.Queue
	children       []frontier.Item
	reserved       int64 // bytes of memory, for children
	memory         *archive.Memory
}

// new reports whether v brought what the archive does not have.
func (v *visit) isNew() bool {
	return (v.state == frontier.Done || v.state == frontier.Kept) && !v.unchanged && !v.sameContent
}

// redirects reports whether the answer was a redirect, which is recorded even
// if it leads out of scope.
func (v *visit) redirects() bool {
	return v.resp != nil && v.resp.Fault == nil && !v.resp.Location.IsZero()
}

// free gives back what v holds.
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

// park leaves v to the next run.
func (v *visit) park(err error) *visit {
	v.parked = true
	return v.fail(frontier.Pending, err)
}

func (v *visit) exclude(why string) *visit {
	v.state, v.note = frontier.Excluded, why
	return v
}

// peer returns the address that answered v. Where nothing was asked, it is that
// of the listing which led to v, but only if v has the same origin.
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
