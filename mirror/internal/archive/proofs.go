package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// maxProofs is the maximum number of records in a proofs or intactSet value.
const maxProofs = 1 << 15

// proofs is the set of WARC records whose objects this process has written or
// verified. The database may come from an untrusted source and may contain
// false digests. With a false digest, new content could be recorded as a
// revisit of another object and be lost.
type proofs map[recordKey]struct{}

// A recordKey is a digest of the description of a WARC record. It needs less
// memory than the description.
type recordKey [sha256.Size]byte

// newRecordKey returns the digest of the parts of a description.
func newRecordKey(parts ...string) recordKey {
	var buffer [512]byte // keeps most descriptions off the heap
	b := buffer[:0]
	for _, part := range parts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
	}
	return sha256.Sum256(b)
}

// proofOf returns a key for the WARC record of c, which also depends on the
// digest of its object.
func proofOf(c *frontier.Capture) recordKey {
	return newRecordKey(c.ID, c.URL, c.Proof, string(c.Digest[:]))
}

// add adds p to the set. If the set is full, add first removes all proofs.
func (s proofs) add(p recordKey) {
	if len(s) >= maxProofs {
		clear(s)
	}
	s[p] = struct{}{}
}

// proveObject reports whether the WARC record of c contains the object of c. It
// reads the record unless a.proofs contains it.
func (a *Archive) proveObject(c *frontier.Capture) bool {
	p := proofOf(c)
	if _, ok := a.proofs[p]; ok {
		return true
	}
	if a.formOf(c) == nil {
		return false
	}
	a.proofs.add(p)
	return true
}

// formOf returns the form in which the WARC record of c contains the object of
// c. It returns nil if the record does not contain the object.
func (a *Archive) formOf(c *frontier.Capture) bodyOf {
	for _, form := range []bodyOf{payloadOf, objectOf} {
		if a.hasObject(c, form) {
			return form
		}
	}
	return nil
}

// hasOtherForm reports whether a WARC record with the payload of c contains an
// object of the given size and digest. This object is then another form of the
// object of c: with or without the content coding. The record can belong to
// another capture, because c may have only a revisit record.
func (a *Archive) hasOtherForm(ctx context.Context, c *frontier.Capture, size int64, digest [32]byte) (bool, error) {
	if c.File == "" || size < 0 {
		return false, nil
	}
	// The database can describe the other capture in either form.
	first, err := a.frontier.CapturesByDigest(ctx, [][32]byte{c.Digest, digest})
	for _, other := range append(slices.Collect(maps.Values(first)), *c) {
		if other.Size, other.Digest = size, digest; other.Proof == c.Proof && a.formOf(&other) != nil {
			return true, err
		}
	}
	return false, err
}

// hasObject reads the WARC record of c. It reports whether the object that form
// returns has the size and the digest of c.
func (a *Archive) hasObject(c *frontier.Capture, form bodyOf) bool {
	f, err := a.openWARC(c.File)
	if err != nil {
		return false
	}
	defer f.Close()
	r := warc.NewReaderAt(f, c.Offset)
	h, err := r.Next()
	if err != nil || !describes(c, h) {
		return false
	}
	body, err := form(r, h)
	if err != nil {
		return false
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(body, c.Size+1))
	return n == c.Size && err == nil && [sha256.Size]byte(sum.Sum(nil)) == c.Digest
}

// describes reports whether h is the header of the WARC record of c.
func describes(c *frontier.Capture, h *warc.Header) bool {
	return h.ID() == c.ID && h.Target() == c.URL && h.Get("WARC-Payload-Digest") == c.Proof
}
