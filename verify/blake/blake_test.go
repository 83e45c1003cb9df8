package blake_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/verify/blake"
)

// These are the digests of "abc" from the specifications.
const (
	blake2b = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
	blake3  = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
)

// TestAlgorithms verifies digests with all names, and that package verify alone
// does not know them.
func TestAlgorithms(t *testing.T) {
	for _, text := range []string{
		"blake2b=" + blake2b, "BLAKE2b=" + strings.ToUpper(blake2b), "blake2b-512=" + blake2b, "blake3=" + blake3, "BLAKE3=" + blake3,
		"blake2b-256=bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319",
	} {
		d, err := verify.ParseDigest(text, blake.Algorithms()...)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		c := d.Check("the test")
		io.WriteString(c, "abc")
		if err := c.Verify(); err != nil || d.Weak() {
			t.Errorf("%s: %v, weak: %t", text, err, d.Weak())
		}
		c.Reset()
		if err := c.Verify(); fetch.FaultOf(err) != fetch.Mismatch {
			t.Errorf("%s of an empty file: %v", text, err)
		}
		if _, err := verify.ParseDigest(text); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%s: without the algorithms: %v", text, err)
		}
	}
}

// TestSums reads lists whose names select the algorithm.
func TestSums(t *testing.T) {
	for _, c := range []struct{ name, text, source, want string }{
		{"GNU, BLAKE2b", blake2b + "  a", "B2SUMS", "blake2b"},
		{"GNU, BLAKE3", blake3 + "  a", "x.b3sum", "blake3"},
		{"BSD", "BLAKE2b (a) = " + blake2b, "x", "blake2b"},
		{"the length of SHA-512", blake2b + "  a", "x", "sha512"},
	} {
		s, err := verify.ReadSums(strings.NewReader(c.text), c.source, blake.Algorithms()...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if found, err := s.Find("a"); err != nil || len(found) != 1 || found[0].Algorithm != c.want {
			t.Errorf("%s: %v, %v", c.name, found, err)
		}
	}
}

func ExampleAlgorithms() {
	d, err := verify.ParseDigest("blake3="+blake3, blake.Algorithms()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := d.Check("the release page")
	io.WriteString(c, "abc")
	fmt.Println(c.Verify(), c)
	// Output: <nil> blake3 of the release page
}
