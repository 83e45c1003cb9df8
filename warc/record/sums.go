package record

import (
	"crypto/sha1"
	"hash"
	"io"

	"github.com/anyurl/fetch/warc"
)

// Sums computes the digests of the main record of an HTTP exchange while the
// caller stores the object. The warc.Writer then does not read a large object to
// compute them. It must be created with [Exchange.Sums].
type Sums struct {
	block, payload sum
}

// A sum is a hash that counts its bytes.
type sum struct {
	hash.Hash
	size int64
}

func (s *sum) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return s.Hash.Write(p)
}

// Sums returns a value that computes the digests with SHA-1. The caller passes
// the value to Records, and writes the object to all its Writers. Sums must be
// called after OmitBody and before the body is read. It returns nil if the head
// of the record depends on the object, for example because the response has a
// transfer coding.
func (x *Exchange) Sums() *Sums {
	if x == nil || x.request == nil || !x.response.omitted || x.continues() {
		return nil
	}
	head, m := x.response.head(x.resp), &x.response.message
	if len(head) == 0 || !m.PayloadValid() || m.TransferCoded() {
		return nil
	}
	s := &Sums{sum{sha1.New(), 0}, sum{sha1.New(), 0}}
	s.block.Hash.Write(head)
	return s
}

// Writers returns the destinations of the object. They never return an error, and
// can be used at the same time. A nil Sums has none.
func (s *Sums) Writers() []io.Writer {
	if s == nil {
		return nil
	}
	return []io.Writer{&s.block, &s.payload}
}

// A summedBlock is the block of a response record whose digests are known.
type summedBlock struct {
	io.ReadSeeker
	sums *Sums
}

// Sums implements the optional interface of the Body of a warc.Record.
func (b summedBlock) Sums(a warc.Algorithm) (block, payload []byte) {
	if a != warc.SHA1 {
		return nil, nil
	}
	return b.sums.block.Sum(nil), b.sums.payload.Sum(nil)
}

// with returns the block of a record whose object has the given size. The result
// has digests if all bytes of the object were written to s.
func (s *Sums) with(block io.ReadSeeker, size int64) io.ReadSeeker {
	if s.block.size != size || s.payload.size != size {
		return block
	}
	return summedBlock{block, s}
}
