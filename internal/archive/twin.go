package archive

import (
	"crypto/sha256"
	"io"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

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
	h, err := warc.NewReaderAt(f, c.Offset).Next()
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
