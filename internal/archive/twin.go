package archive

import (
	"crypto/sha256"
	"io"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

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

// proveObject reports whether the record of c contains the object that c
// describes.
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
	r := warc.NewReaderAt(f, c.At)
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
// the payload digest that c describes. Its payload is not read.
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
	h, err := warc.NewReaderAt(f, c.At).Next()
	if err != nil || !describes(c, h) {
		return false
	}
	a.proofs.add(p)
	return true
}

// describes reports whether h is the head of the record of c.
func describes(c *frontier.Capture, h *warc.Header) bool {
	return h.ID() == c.ID && h.Target() == c.URL && h.Get("WARC-Payload-Digest") == c.Proof
}

// proven reports whether e may become a revisit of twin. Content that was
// fetched again must be the object in the record. For an answer without
// content, the record of the last visit must have the payload digest of twin.
func (a *Archive) proven(e *Entry, twin *frontier.Capture) bool {
	if !e.Same {
		return twin.Digest == e.Digest && twin.Size == e.Size && a.proveObject(twin)
	}
	last := e.Result.Item.Last
	return last.Proof == twin.Proof && a.proveRecord(twin) && (last.ID == twin.ID || a.proveRecord(last))
}
