package archive

import "crypto/sha256"

// maxProofs bounds the memory of proofs.
const maxProofs = 1 << 15

// proofs remembers of which records this process has read or written the
// payload. The database may come from a stranger: without a proof, a digest in
// it could make new content a revisit of another object, so that it is lost.
type proofs map[proof]struct{}

// A proof says that the object in a record has a digest. For a record of which
// only the head was read, digest is zero.
type proof struct {
	id, url, payload string
	digest           [sha256.Size]byte
}

// add stores p, in the place of all others if there are many.
func (s proofs) add(p proof) {
	if len(s) >= maxProofs {
		clear(s)
	}
	s[p] = struct{}{}
}
