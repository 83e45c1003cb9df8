package warc

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/anyurl/fetch/internal/http1"
)

// Algorithm is how blocks and payloads are digested.
type Algorithm uint8

const (
	SHA1   Algorithm = iota // "sha1:" and base 32, as nearly all archives have it
	SHA256                  // "sha256:" and base 16
)

func (a Algorithm) hash() hash.Hash {
	if a == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

func (a Algorithm) label(h hash.Hash) string {
	var room [sha256.Size]byte
	sum := h.Sum(room[:0])
	if a == SHA256 {
		return "sha256:" + hex.EncodeToString(sum)
	}
	return "sha1:" + base32.StdEncoding.EncodeToString(sum)
}

// A Digester digests a block that is written to it, and its payload, in one
// pass: for a Record whose Body can be read only once.
type Digester struct {
	algorithm Algorithm
	block     hash.Hash
	payload   hash.Hash      // nil: the payload is the block, or there is none
	message   *http1.Message // nil: the block is none
	raw       hash.Hash      // of what follows the head of an HTTP message; nil: not wanted
	none      bool           // records of this type have no payload
	size      int64
}

// NewDigester makes a Digester for the block of a record of type t.
func NewDigester(a Algorithm, t Type) *Digester {
	d := &Digester{algorithm: a, block: a.hash()}
	switch t {
	case Response, Request:
		d.payload, d.message = a.hash(), new(http1.Message)
	case Resource, Conversion:
	default:
		d.none = true
	}
	return d
}

// Write never fails.
func (d *Digester) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	d.block.Write(p)
	if d.message == nil {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		behind := !d.message.InHead()
		n, payload := d.message.Next(rest)
		d.payload.Write(payload)
		if d.raw != nil && behind {
			d.raw.Write(rest[:n])
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// Size is how much was written.
func (d *Digester) Size() int64 { return d.size }

// Block is the labelled digest of all that was written.
func (d *Digester) Block() string { return d.algorithm.label(d.block) }

// Payload is the labelled digest of the payload: of an HTTP message its entity,
// transfer coding removed and content coding kept. It is "" where there is
// none, or none that can be told. Nothing may be written after it.
func (d *Digester) Payload() string {
	switch {
	case d.none:
		return ""
	case d.message == nil:
		return d.Block()
	}
	d.payload.Write(d.message.End())
	if !d.message.PayloadValid() {
		return ""
	}
	return d.algorithm.label(d.payload)
}

// sameDigest compares labelled digests, whatever the base and case they are
// written in. It reports false for ok where they are of different algorithms.
func sameDigest(a, b string) (same, ok bool) {
	nameA, sumA, okA := splitDigest(a)
	nameB, sumB, okB := splitDigest(b)
	return string(sumA) == string(sumB), okA && okB && nameA == nameB
}

// splitDigest decodes a labelled digest of base 16 or 32.
func splitDigest(s string) (name string, sum []byte, ok bool) {
	name, value, ok := strings.Cut(s, ":")
	if !ok {
		return "", nil, false
	}
	name = strings.ReplaceAll(strings.ToLower(name), "-", "")
	size := map[string]int{"sha1": sha1.Size, "sha256": sha256.Size}[name]
	if size == 0 {
		return name, nil, false
	}
	var err error
	if len(value) == hex.EncodedLen(size) {
		sum, err = hex.DecodeString(value)
	} else {
		value = strings.TrimRight(strings.ToUpper(value), "=")
		sum, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(value)
	}
	return name, sum, err == nil && len(sum) == size
}
