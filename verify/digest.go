package verify

import (
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// An Algorithm computes digests.
type Algorithm struct {
	name     string // in its usual form, such as "sha512/256"
	size     int    // length of a digest in bytes; 0 for 1 to 64 bytes
	weak     bool   // an attacker can create two objects with the same digest
	strength int    // the strongest digest of a header field is compared
	new      func(size int) hash.Hash
}

// NewAlgorithm returns an algorithm that this package does not have, such as an
// algorithm of package verify/blake. The name has lower-case letters. The size is
// the length of a digest in bytes, or 0 for every length from 1 to 64. The
// function new returns a hash for digests of size bytes; several goroutines may
// call it.
//
// The result is treated as secure: [Digest.Weak] returns false for its digests.
func NewAlgorithm(name string, size int, new func(size int) hash.Hash) Algorithm {
	strength := 6
	if size != 0 {
		strength = min(size/16+2, 6)
	}
	return Algorithm{name: name, size: size, strength: strength, new: new}
}

// algorithms lists the algorithms of the standard library. Of two algorithms with
// the same strength and size, the first is assumed for a digest without a name.
var algorithms = []Algorithm{
	{"crc32", crc32.Size, true, 0, func(int) hash.Hash { return crc32.NewIEEE() }},
	{"md5", md5.Size, true, 1, func(int) hash.Hash { return md5.New() }},
	{"sha1", sha1.Size, true, 2, func(int) hash.Hash { return sha1.New() }},
	{"sha224", sha256.Size224, false, 3, func(int) hash.Hash { return sha256.New224() }},
	{"sha256", sha256.Size, false, 4, func(int) hash.Hash { return sha256.New() }},
	{"sha384", sha512.Size384, false, 5, func(int) hash.Hash { return sha512.New384() }},
	{"sha512", sha512.Size, false, 6, func(int) hash.Hash { return sha512.New() }},
	{"sha512/224", sha512.Size224, false, 3, func(int) hash.Hash { return sha512.New512_224() }},
	{"sha512/256", sha512.Size256, false, 4, func(int) hash.Hash { return sha512.New512_256() }},
	{"sha3-224", 28, false, 3, func(int) hash.Hash { return sha3.New224() }},
	{"sha3-256", 32, false, 4, func(int) hash.Hash { return sha3.New256() }},
	{"sha3-384", 48, false, 5, func(int) hash.Hash { return sha3.New384() }},
	{"sha3-512", 64, false, 6, func(int) hash.Hash { return sha3.New512() }},
}

const maxSize = 64 // of the digests of all algorithms, in bytes

// withMore yields the algorithms of this package and those in more.
func withMore(more []Algorithm) iter.Seq[Algorithm] {
	return func(yield func(Algorithm) bool) {
		for _, list := range [...][]Algorithm{algorithms, more} {
			for _, a := range list {
				if !yield(a) {
					return
				}
			}
		}
	}
}

// Algorithms returns the names of the algorithms of this package and of those in
// more.
func Algorithms(more ...Algorithm) (names []string) {
	for a := range withMore(more) {
		names = append(names, a.name)
	}
	return names
}

// findAlgorithm returns the algorithm of list with the given name for digests of
// size bytes. Case, hyphens and underscores are ignored. The names sha2 and sha3
// denote a family, whose member the size selects. A suffix of blake2b, as in
// blake2b-256, is ignored too.
func findAlgorithm(list iter.Seq[Algorithm], name string, size int) (Algorithm, bool) {
	want := plainName(name)
	if rest, ok := strings.CutPrefix(want, "blake2b"); ok && (rest == "" || rest == "256" || rest == "384" || rest == "512") {
		want = "blake2b"
	}
	for a := range list {
		fits := a.size == size || a.size == 0 && 0 < size && size <= maxSize
		family := want == "sha2" && plainName(a.name) == "sha"+bits(size) || want == "sha3" && a.name == "sha3-"+bits(size)
		if fits && (plainName(a.name) == want || family) {
			return a, true
		}
	}
	return Algorithm{}, false
}

func bits(size int) string {
	switch size {
	case 28:
		return "224"
	case 32:
		return "256"
	case 48:
		return "384"
	case 64:
		return "512"
	}
	return "?"
}

func plainName(name string) string {
	name = strings.NewReplacer("-", "", "_", "", "/", "").Replace(strings.ToLower(name))
	if name == "sha" {
		return "sha1"
	}
	return name
}

// A Digest is the digest that an object must have. The functions of this package
// return valid Digests; the zero Digest and other literals are invalid. The
// caller must not change Sums.
type Digest struct {
	Algorithm string   // such as "sha256"
	Sums      [][]byte // the object must have one of these digests, at least one

	algorithm Algorithm
}

// newDigest returns a Digest, or false if list has no such algorithm with
// digests of this length.
func newDigest(list iter.Seq[Algorithm], name string, sum []byte) (Digest, bool) {
	a, ok := findAlgorithm(list, name, len(sum))
	return Digest{a.name, [][]byte{sum}, a}, ok
}

// ParseDigest parses ALGORITHM=HEX, such as "sha256=e3b0c4...", or integrity
// metadata of Subresource Integrity, such as "sha256-47DEQ...". The latter may
// have several digests, separated by spaces. Only the digests of its strongest
// algorithm count. The error has the Fault fetch.Usage.
//
// The parameter more contains additional algorithms.
func ParseDigest(text string, more ...Algorithm) (Digest, error) {
	list := withMore(more)
	name, digits, ok := strings.Cut(text, "=")
	if sum, err := hex.DecodeString(digits); ok && err == nil && len(sum) > 0 && name != "" {
		if d, ok := newDigest(list, name, sum); ok {
			return d, nil
		}
		if a, ok := knownName(list, name); ok {
			return Digest{}, fetch.Usage.Errorf("%q: a digest of %s has %d hexadecimal digits, not %d", text, name, 2*cmp.Or(a.size, maxSize), len(digits))
		}
		return Digest{}, fetch.Usage.Errorf("unknown digest algorithm %q (known: %s)", name, strings.Join(Algorithms(more...), ", "))
	}
	var best Digest
	for word := range strings.FieldsSeq(text) {
		if d, ok := parseIntegrity(list, word); ok {
			switch s := d.Strength() - best.Strength(); {
			case best.Algorithm == "" || s > 0:
				best = d
			case s == 0:
				best.Sums = append(best.Sums, d.Sums...)
			}
		}
	}
	if best.Algorithm == "" {
		return Digest{}, fetch.Usage.Errorf("%q is neither ALGORITHM=HEX, such as sha256=e3b0..., nor a value such as sha256-47DEQ...", text)
	}
	return best, nil
}

// knownName returns the algorithm of list with the given name, for digests of any
// size.
func knownName(list iter.Seq[Algorithm], name string) (Algorithm, bool) {
	for _, size := range []int{4, 16, 20, 28, 32, 48, 64} {
		if a, ok := findAlgorithm(list, name, size); ok {
			return a, true
		}
	}
	return Algorithm{}, false
}

// parseIntegrity parses one digest of Subresource Integrity. Options after a
// question mark are ignored, as the specification requires.
func parseIntegrity(list iter.Seq[Algorithm], word string) (Digest, bool) {
	word, _, _ = strings.Cut(word, "?")
	name, text, ok := strings.Cut(word, "-")
	if !ok || !strings.HasPrefix(name, "sha") {
		return Digest{}, false
	}
	sum, err := decodeBase64(text)
	if err != nil {
		return Digest{}, false
	}
	return newDigest(list, name, sum)
}

// decodeBase64 decodes standard or URL-safe base64, with or without padding.
func decodeBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	return base64.RawStdEncoding.DecodeString(text)
}

// Weak reports whether the digest detects damage only. An attacker can create
// another object with the same digest.
func (d Digest) Weak() bool { return d.algorithm.weak }

// String returns the digest in the form ALGORITHM=HEX.
func (d Digest) String() string {
	var texts []string
	for _, sum := range d.Sums {
		texts = append(texts, d.Algorithm+"="+hex.EncodeToString(sum))
	}
	return strings.Join(texts, " or ")
}

// Check returns a Check that requires the digest. The source is the origin of the
// digest, such as "SHA256SUMS" or "the field Repr-Digest". It appears in errors and
// in the result of String, and has no other effect.
func (d Digest) Check(source string) Check {
	return &digestCheck{digest: d, source: source, hash: d.algorithm.new(len(d.Sums[0]))}
}

type digestCheck struct {
	digest Digest
	source string
	hash   hash.Hash
}

func (c *digestCheck) Write(p []byte) (int, error) { return c.hash.Write(p) }
func (c *digestCheck) Reset()                      { c.hash.Reset() }
func (c *digestCheck) String() string              { return c.digest.Algorithm + " of " + c.source }

func (c *digestCheck) Verify() error {
	got := c.hash.Sum(nil)
	for _, sum := range c.digest.Sums {
		if string(got) == string(sum) {
			return nil
		}
	}
	return fetch.Mismatch.Errorf("the body has the digest %s=%x, but %s requires %s", c.digest.Algorithm, got, c.source, c.digest)
}

// Strength returns a number that is larger for stronger algorithms.
func (d Digest) Strength() int { return d.algorithm.strength }
