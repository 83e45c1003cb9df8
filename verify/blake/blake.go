// Package blake has the digest algorithms BLAKE2b and BLAKE3, for the functions
// of package verify. It is not part of package verify, so that other programs do
// not link it:
//
//	d, err := verify.ParseDigest("blake3="+hex, blake.Algorithms()...)
package blake

import (
	"hash"

	"github.com/zeebo/blake3"
	"golang.org/x/crypto/blake2b"

	"github.com/anyurl/fetch/verify"
)

// Algorithms returns blake2b, for digests of 1 to 64 bytes, and blake3.
func Algorithms() []verify.Algorithm {
	return []verify.Algorithm{
		verify.NewAlgorithm("blake2b", 0, newBlake2b),
		verify.NewAlgorithm("blake3", 32, func(int) hash.Hash { return blake3.New() }),
	}
}

// newBlake2b returns a BLAKE2b hash for digests of size bytes, from 1 to 64.
func newBlake2b(size int) hash.Hash {
	h, err := blake2b.New(size, nil)
	if err != nil {
		return nil
	}
	return h
}
