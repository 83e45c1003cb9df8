package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// A recordState is the result of verifying the WARC record of a capture. The
// database may come from an untrusted source and may contain false digests. With
// a false digest, new content could be recorded as a revisit of another object
// and be lost.
type recordState uint8

const (
	unverified   recordState = iota
	intactRecord             // the record is intact, and its header describes the capture
	intactObject             // the record is also known to contain the object of the capture
)

// maxVerifiedRecords is the maximum number of records in a verifiedRecords value.
const maxVerifiedRecords = 1 << 15

// verifiedRecords contains the states of the WARC records that this process has
// written or verified. It is safe for concurrent use.
type verifiedRecords struct {
	mu     sync.Mutex
	states map[recordKey]recordState
}

// A recordKey is a digest of the description of a WARC record. It needs less
// memory than the description.
type recordKey [sha256.Size]byte

// recordKeyOf returns a key for the WARC record of c. It depends on the position
// of the record and on everything that its verification compares.
func recordKeyOf(c *frontier.Capture) recordKey {
	var buffer [512]byte // keeps most descriptions off the heap
	b := buffer[:0]
	for _, part := range [...]string{c.File, strconv.FormatInt(c.Offset, 10), c.ID, c.URL, c.Proof, string(c.Digest[:])} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
	}
	return sha256.Sum256(b)
}

// set stores the state of the record of c. If the maximum number of records is
// reached, set first removes all records.
func (v *verifiedRecords) set(c *frontier.Capture, s recordState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.states == nil || len(v.states) >= maxVerifiedRecords {
		v.states = map[recordKey]recordState{}
	}
	key := recordKeyOf(c)
	v.states[key] = max(s, v.states[key])
}

func (v *verifiedRecords) state(c *frontier.Capture) recordState {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.states[recordKeyOf(c)]
}

// hasRecord reports whether the WARC record of c is intact, and whether its
// header describes c. If the record is a revisit record, the first record of the
// same content must be intact too. A record of another worker, or in the store,
// counts as intact.
func (a *Archive) hasRecord(c *frontier.Capture) bool {
	if a.verified.state(c) >= intactRecord || a.isRemote(c.File) {
		return true
	}
	if !a.matchesChecksum(c) {
		h, intact := a.readRecord(c)
		if !intact {
			return false
		}
		inArchive := h.Get("WARC-Refers-To") != "" // otherwise Options.Dedup has the original
		if h.Type() == warc.Revisit && inArchive && !a.hasOriginal(c, h) {
			return false
		}
	}
	a.verified.set(c, intactRecord)
	return true
}

// hasObject reports whether the WARC record of c is intact and contains the
// object of c. It reads the complete record if its state is unknown.
func (a *Archive) hasObject(c *frontier.Capture) bool {
	if a.verified.state(c) == intactObject {
		return true
	}
	if !a.hasRecord(c) || a.formOf(c) == nil {
		return false
	}
	a.verified.set(c, intactObject)
	return true
}

// LostRecord reports whether the WARC record of c existed earlier, but is now
// missing or damaged. It returns false if the run writes no WARC files.
func (a *Archive) LostRecord(c *frontier.Capture) bool {
	return a.options.WARC != nil && c.ID != "" && (c.File == "" || !a.hasRecord(c))
}

// hasOriginal reports whether the record to which a revisit record refers is
// intact. The parameter h is the header of the revisit record of c.
func (a *Archive) hasOriginal(c *frontier.Capture, h *warc.Header) bool {
	ctx, cancel := a.lookupContext()
	defer cancel()
	// A revisit record usually refers to the first record of the content. Reading
	// all records for each revisit would take quadratic time.
	found, err := a.frontier.CapturesByDigest(ctx, [][32]byte{c.Digest})
	if err != nil {
		return false
	}
	if first, ok := found[c.Digest]; ok && refersTo(h, first.ID) {
		return a.isOriginal(&first)
	}
	for s, err := range a.frontier.RecordsOf(ctx, c.Digest) {
		if err != nil {
			return false
		}
		if refersTo(h, s.ID) {
			return a.isOriginal(&s.Capture)
		}
	}
	return false
}

// isOriginal reports whether the record of c is intact and not a revisit record.
func (a *Archive) isOriginal(c *frontier.Capture) bool {
	isRevisit := c.Checksum == 0 // or the database is old
	if !isRevisit && (a.verified.state(c) >= intactRecord || a.matchesChecksum(c)) {
		a.verified.set(c, intactRecord)
		return true
	}
	h, intact := a.readRecord(c)
	return intact && h.Type() != warc.Revisit
}

// lookupTime is the maximum time of a lookup in a shared database. A commit may
// wait for the lookup.
const lookupTime = 10 * time.Second

// lookupContext returns the context of a lookup in the database. If the lookup
// fails, a record counts as damaged, and the payload is written again.
func (a *Archive) lookupContext() (context.Context, context.CancelFunc) {
	if a.options.Shared == nil || a.running == nil {
		return context.Background(), func() {}
	}
	return context.WithTimeout(a.running, lookupTime)
}
