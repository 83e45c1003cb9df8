package warc

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"hash"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// An Algorithm is a hash algorithm for the digests of blocks and payloads.
type Algorithm uint8

const (
	SHA1   Algorithm = iota // written as "sha1:" and base32, as in most archives
	SHA256                  // written as "sha256:" and hexadecimal digits
)

func (a Algorithm) hash() hash.Hash {
	if a == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

func (a Algorithm) label(h hash.Hash) string {
	var buffer [sha256.Size]byte
	return a.text(h.Sum(buffer[:0]))
}

// text returns the form of a sum in the header of a record.
func (a Algorithm) text(sum []byte) string {
	if a == SHA256 {
		return "sha256:" + hex.EncodeToString(sum)
	}
	return "sha1:" + base32.StdEncoding.EncodeToString(sum)
}

// A summedBlock is the Body of a response record whose digests are known. The
// method Sums returns the digests of the block and of the payload, or nil if they
// were not computed with the algorithm. The block has no interim responses.
type summedBlock interface {
	io.ReadSeeker
	Sums(a Algorithm) (block, payload []byte)
}

// sumsOf returns the digests of a block, if it is a summedBlock that contains
// them.
func sumsOf(body io.Reader, a Algorithm) (block, payload string, ok bool) {
	s, ok := body.(summedBlock)
	if !ok {
		return "", "", false
	}
	b, p := s.Sums(a)
	if b == nil || p == nil {
		return "", "", false
	}
	return a.text(b), a.text(p), true
}

// A digester computes the digests of the block and the payload of a record in
// one pass. A [Record] with a Body that can be read only once requires these
// digests before it is written. A digester is not safe for concurrent use.
type digester struct {
	algorithm Algorithm
	block     hash.Hash
	payload   hash.Hash      // digest of the payload; nil if the block is not an HTTP message
	message   *http1.Message // parser of the HTTP message, or nil
	raw       hash.Hash      // for rawPayload, or nil
	noPayload bool           // records of this type have no payload
	size      int64
}

// newDigester returns a digester for the block of a record of type t. If t is
// Request or Response, the block must be an HTTP message.
func newDigester(a Algorithm, t Type) *digester {
	d := &digester{algorithm: a, block: a.hash()}
	switch t {
	case Response, Request:
		d.payload, d.message = a.hash(), new(http1.Message)
	case Resource, Conversion:
	default:
		d.noPayload = true
	}
	return d
}

// Write adds p to the block. The error is always nil.
func (d *digester) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	d.block.Write(p)
	if d.message == nil {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		inBody := !d.message.InHead() && d.message.TransferCoded()
		n, payload := d.message.Next(rest)
		d.payload.Write(payload)
		if d.raw != nil && inBody {
			d.raw.Write(rest[:n])
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// Size returns the number of bytes written to the digester.
func (d *digester) Size() int64 { return d.size }

// Block returns the digest of all bytes written, in the form "sha1:DIGEST".
func (d *digester) Block() string { return d.algorithm.label(d.block) }

// Payload returns the digest of the payload, in the form "sha1:DIGEST". The
// payload of an HTTP message is its body after the transfer coding is removed.
// The content coding is kept. Payload returns "" if records of this type have
// no payload, or if the HTTP message is invalid. Write must not be called after
// Payload.
func (d *digester) Payload() string {
	switch {
	case d.noPayload:
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

// rawPayload returns the digest of the HTTP body before its transfer coding is
// removed. Without a transfer coding, this is the digest of the payload.
func (d *digester) rawPayload() string {
	if d.message.TransferCoded() {
		return d.algorithm.label(d.raw)
	}
	return d.algorithm.label(d.payload)
}

// sameDigest reports whether two digests such as "sha1:DIGEST" are equal. It
// accepts base16 and base32, in upper and lower case. The result ok is false if
// a digest is invalid or if the algorithms differ.
func sameDigest(a, b string) (same, ok bool) {
	nameA, sumA, okA := splitDigest(a)
	nameB, sumB, okB := splitDigest(b)
	return string(sumA) == string(sumB), okA && okB && nameA == nameB
}

// splitDigest decodes a digest such as "sha1:DIGEST" in base16 or base32. The
// result ok is false if the digest is invalid or its algorithm is not
// supported.
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
