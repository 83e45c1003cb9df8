package ipfs

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
)

// Codes of multicodec.
const (
	rawCodec   = 0x55
	dagPBCodec = 0x70

	identityHash = 0x00
	sha256Hash   = 0x12
	sha3_512Hash = 0x14
	sha3_384Hash = 0x15
	sha3_256Hash = 0x16
	sha3_224Hash = 0x17
	blake2bHash  = 0xb220 // blake2b-256
)

// maxDigest is the maximum length of a digest in bytes. The digest of the
// identity function is the block itself.
const maxDigest = 128

// A cid is a content identifier of version 0 or 1. Two identifiers of the same
// block are equal if they have the same codec and hash function.
type cid struct {
	codec, hash uint64
	digest      string
}

// errCID reports a malformed content identifier.
var errCID = errors.New("invalid content identifier (CID)")

// cutVarint returns the unsigned varint at the beginning of b, and the rest of b.
// It rejects values above 63 bits and encodings that are not the shortest one.
func cutVarint(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 9 || n > 1 && b[n-1] == 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}

// cutCID returns the binary content identifier at the beginning of b, and the
// rest of b.
func cutCID(b []byte) (c cid, rest []byte, err error) {
	c.codec, c.hash = dagPBCodec, sha256Hash
	size, ok := uint64(sha256.Size), true
	if bytes.HasPrefix(b, []byte{sha256Hash, sha256.Size}) { // version 0
		b = b[2:]
	} else {
		var version uint64
		if version, b, ok = cutVarint(b); !ok || version != 1 {
			return cid{}, nil, errCID
		}
		for _, v := range []*uint64{&c.codec, &c.hash, &size} {
			if *v, b, ok = cutVarint(b); !ok {
				return cid{}, nil, errCID
			}
		}
	}
	if size > maxDigest || size > uint64(len(b)) {
		return cid{}, nil, errCID
	}
	c.digest = string(b[:size])
	return c, b[size:], nil
}

// parseBinary parses a complete binary content identifier.
func parseBinary(b []byte) (cid, error) {
	c, rest, err := cutCID(b)
	if err == nil && len(rest) > 0 {
		err = errCID
	}
	return c, err
}

const (
	base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	base36 = "0123456789abcdefghijklmnopqrstuvwxyz"
)

var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// maxText is the maximum length of the text of a content identifier, which is a
// label of a host name.
const maxText = 63

// parseText parses the text of a content identifier. The result sensitive
// reports whether the case of its letters is significant.
func parseText(text string) (c cid, sensitive bool, err error) {
	if text == "" || len(text) > maxText {
		return c, false, errCID
	}
	var b []byte
	ok := true
	switch lower := strings.ToLower(text); {
	case len(text) == 46 && strings.HasPrefix(text, "Qm"):
		sensitive = true
		b, ok = decodeBase(text, base58)
		ok = ok && len(b) == 2+sha256.Size && b[0] == sha256Hash
	case text[0] == 'z':
		sensitive = true
		b, ok = decodeBase(text[1:], base58)
		ok = ok && len(b) > 0 && b[0] == 1
	case lower[0] == 'b':
		b, err = base32Lower.DecodeString(lower[1:])
		ok = err == nil && len(b) > 0 && b[0] == 1 && base32Lower.EncodeToString(b) == lower[1:]
	case lower[0] == 'k':
		b, ok = decodeBase(lower[1:], base36)
		ok = ok && len(b) > 0 && b[0] == 1
	default:
		ok = false
	}
	if !ok {
		return cid{}, false, errCID
	}
	c, err = parseBinary(b)
	return c, sensitive, err
}

// decodeBase decodes a number in the base of the alphabet. A zero digit at the
// beginning is a zero byte. The text must be short, because the time is
// quadratic.
func decodeBase(text, alphabet string) ([]byte, bool) {
	var number []byte // little-endian
	for i := range len(text) {
		carry := strings.IndexByte(alphabet, text[i])
		if carry < 0 {
			return nil, false
		}
		for j := range number {
			carry += int(number[j]) * len(alphabet)
			number[j] = byte(carry)
			carry >>= 8
		}
		for ; carry > 0; carry >>= 8 {
			number = append(number, byte(carry))
		}
	}
	for i := 0; i < len(text) && text[i] == alphabet[0]; i++ {
		number = append(number, 0)
	}
	for i, j := 0, len(number)-1; i < j; i, j = i+1, j-1 {
		number[i], number[j] = number[j], number[i]
	}
	return number, true
}

// String returns the identifier as version 1 in base 32.
func (c cid) String() string {
	b := []byte{1}
	for _, v := range []uint64{c.codec, c.hash, uint64(len(c.digest))} {
		b = binary.AppendUvarint(b, v)
	}
	return "b" + base32Lower.EncodeToString(append(b, c.digest...))
}
