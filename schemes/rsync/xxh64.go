package rsync

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

// Primes of XXH64.
const (
	prime1 uint64 = 0x9e3779b185ebca87
	prime2 uint64 = 0xc2b2ae3d27d4eb4f
	prime3 uint64 = 0x165667b19e3779f9
	prime4 uint64 = 0x85ebca77c2b2ae63
	prime5 uint64 = 0x27d4eb2f165667c5
)

// xxhBlock is the number of bytes that XXH64 processes at a time.
const xxhBlock = 32

// An xxh64 computes the digest XXH64 with the seed zero. It detects damage and
// is not cryptographic.
type xxh64 struct {
	lanes [4]uint64
	total uint64
	rest  [xxhBlock]byte
	n     int // bytes in rest
}

func newXXH64() hash.Hash {
	h := &xxh64{}
	h.Reset()
	return h
}

// Reset implements [hash.Hash].
func (h *xxh64) Reset() {
	first := prime1 // a variable, because the sums overflow
	*h = xxh64{lanes: [4]uint64{first + prime2, prime2, 0, -first}}
}

// Size implements [hash.Hash].
func (h *xxh64) Size() int { return 8 }

// BlockSize implements [hash.Hash].
func (h *xxh64) BlockSize() int { return xxhBlock }

// Write never returns an error.
func (h *xxh64) Write(p []byte) (int, error) {
	size := len(p)
	h.total += uint64(size)
	if h.n > 0 {
		n := copy(h.rest[h.n:], p)
		h.n, p = h.n+n, p[n:]
		if h.n < xxhBlock {
			return size, nil
		}
		h.blocks(h.rest[:])
	}
	whole := len(p) - len(p)%xxhBlock
	h.blocks(p[:whole])
	h.n = copy(h.rest[:], p[whole:])
	return size, nil
}

// blocks processes complete blocks.
func (h *xxh64) blocks(p []byte) {
	a, b, c, d := h.lanes[0], h.lanes[1], h.lanes[2], h.lanes[3]
	for ; len(p) >= xxhBlock; p = p[xxhBlock:] {
		a = round(a, binary.LittleEndian.Uint64(p[0:8]))
		b = round(b, binary.LittleEndian.Uint64(p[8:16]))
		c = round(c, binary.LittleEndian.Uint64(p[16:24]))
		d = round(d, binary.LittleEndian.Uint64(p[24:32]))
	}
	h.lanes = [4]uint64{a, b, c, d}
}

func round(lane, input uint64) uint64 { return bits.RotateLeft64(lane+input*prime2, 31) * prime1 }

// Sum appends the digest in the little-endian order of rsync.
func (h *xxh64) Sum(b []byte) []byte {
	sum := h.lanes[2] + prime5
	if h.total >= xxhBlock {
		sum = bits.RotateLeft64(h.lanes[0], 1) + bits.RotateLeft64(h.lanes[1], 7) +
			bits.RotateLeft64(h.lanes[2], 12) + bits.RotateLeft64(h.lanes[3], 18)
		for _, lane := range h.lanes {
			sum = (sum^round(0, lane))*prime1 + prime4
		}
	}
	sum += h.total
	rest := h.rest[:h.n]
	for ; len(rest) >= 8; rest = rest[8:] {
		sum = bits.RotateLeft64(sum^round(0, binary.LittleEndian.Uint64(rest)), 27)*prime1 + prime4
	}
	if len(rest) >= 4 {
		sum = bits.RotateLeft64(sum^uint64(binary.LittleEndian.Uint32(rest))*prime1, 23)*prime2 + prime3
		rest = rest[4:]
	}
	for _, c := range rest {
		sum = bits.RotateLeft64(sum^uint64(c)*prime5, 11) * prime1
	}
	sum = (sum ^ sum>>33) * prime2
	sum = (sum ^ sum>>29) * prime3
	return binary.LittleEndian.AppendUint64(b, sum^sum>>32)
}
