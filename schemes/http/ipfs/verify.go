package ipfs

import (
	"crypto/sha256"
	"crypto/sha3"

	"github.com/anyurl/fetch/fetch"
)

// A hash is a hash function whose digests are verified.
type hash struct {
	size int // of a digest in bytes
	sum  func(block []byte) []byte
}

// hashes has the hash functions of the standard library.
var hashes = map[uint64]hash{
	sha256Hash:   {sha256.Size, func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }},
	sha3_512Hash: {64, func(b []byte) []byte { s := sha3.Sum512(b); return s[:] }},
	sha3_384Hash: {48, func(b []byte) []byte { s := sha3.Sum384(b); return s[:] }},
	sha3_256Hash: {32, func(b []byte) []byte { s := sha3.Sum256(b); return s[:] }},
	sha3_224Hash: {28, func(b []byte) []byte { s := sha3.Sum224(b); return s[:] }},
}

// A verifier compares blocks with their identifiers.
type verifier struct{ blake2b func([]byte) [32]byte }

// hash returns a hash function. It returns false if the function is not supported.
func (v verifier) hash(code uint64) (h hash, ok bool) {
	if code == blake2bHash && v.blake2b != nil {
		return hash{32, func(b []byte) []byte { s := v.blake2b(b); return s[:] }}, true
	}
	h, ok = hashes[code]
	return h, ok
}

// check returns an error if blocks with the identifier cannot be verified or
// read.
func (v verifier) check(id cid) error {
	if id.codec != rawCodec && id.codec != dagPBCodec {
		return fetch.Unsupported.Errorf("the codec %#x of %s is not supported: only files and directories (UnixFS) are", id.codec, id)
	}
	if id.hash == identityHash {
		return nil
	}
	h, ok := v.hash(id.hash)
	if !ok {
		return fetch.Unsupported.Errorf("the hash function %#x of %s is not supported", id.hash, id)
	}
	if h.size != len(id.digest) {
		return fetch.Unsupported.Errorf("the digest in %s is truncated, which is not supported", id)
	}
	return nil
}

// matches reports whether id identifies the block.
func (v verifier) matches(id cid, block []byte) bool {
	if id.hash == identityHash {
		return string(block) == id.digest
	}
	h, ok := v.hash(id.hash)
	return ok && string(h.sum(block)) == id.digest
}

// verify compares a block with its identifier.
func (v verifier) verify(id cid, block []byte) error {
	if err := v.check(id); err != nil {
		return err
	}
	if !v.matches(id, block) {
		return fetch.Mismatch.Errorf("the gateway sent wrong bytes for the block %s", id)
	}
	return nil
}
