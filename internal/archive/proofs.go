package archive

import (
	"crypto/sha256"
	"io"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// maxProofs is the maximum number of stored proofs.
const maxProofs = 1 << 15

// proofs is the set of records that this process has written or verified. The
// database may come from an untrusted source. Without a proof, a false digest
// could turn new content into a revisit of a different object, and the content
// would be lost.
type proofs map[proof]struct{}

// A proof identifies a verified record and the digest of its object. The digest
// is zero if only the header of the record was verified.
type proof struct {
	id, url, payload string
	digest           [sha256.Size]byte
}

// add stores p. If the set is full, add removes all other proofs first.
func (s proofs) add(p proof) {
	if len(s) >= maxProofs {
		clear(s)
	}
	s[p] = struct{}{}
}

// proveObject reads the record of c and reports whether it contains the object
// of c.
func (a *Archive) proveObject(c *frontier.Capture) bool {
	p := proof{c.ID, c.URL, c.Proof, c.Digest}
	if _, ok := a.proofs[p]; ok {
		return true
	}
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
	body, err := objectOf(r, h)
	if err != nil {
		return false
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(body, c.Size+1)); err != nil || [sha256.Size]byte(sum.Sum(nil)) != c.Digest {
		return false
	}
	a.proofs.add(p)
	return true
}

// proveRecord reports whether the record of c has the identifier, the URL and
// the payload digest of c. It does not read the payload.
func (a *Archive) proveRecord(c *frontier.Capture) bool {
	p := proof{id: c.ID, url: c.URL, payload: c.Proof}
	if _, ok := a.proofs[p]; ok {
		return true
	}
	f, err := a.openWARC(c.File)
	if err != nil {
		return false
	}
	defer f.Close()
	h, err := warc.NewReaderAt(f, c.Offset).Next()
	if err != nil || !describes(c, h) {
		return false
	}
	a.proofs.add(p)
	return true
}

// describes reports whether h is the header of the record of c.
func describes(c *frontier.Capture, h *warc.Header) bool {
	return h.ID() == c.ID && h.Target() == c.URL && h.Get("WARC-Payload-Digest") == c.Proof
}
