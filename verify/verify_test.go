package verify

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// vectors are the digests of "abc" from the specifications of the algorithms.
var vectors = map[string]string{
	"crc32": "352441c2", "md5": "900150983cd24fb0d6963f7d28e17f72",
	"sha1":       "a9993e364706816aba3e25717850c26c9cd0d89d",
	"sha224":     "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
	"sha256":     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	"sha384":     "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
	"sha512":     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
	"sha512/224": "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa",
	"sha512/256": "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
	"sha3-224":   "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf",
	"sha3-256":   "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
	"sha3-384":   "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
	"sha3-512":   "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
}

func checkABC(t *testing.T, d Digest) {
	t.Helper()
	c := d.Check("the test")
	io.WriteString(c, "x")
	c.Reset()
	io.WriteString(c, "a")
	io.WriteString(c, "bc")
	if err := c.Verify(); err != nil {
		t.Error(err)
	}
	c.Reset()
	if err := c.Verify(); fetch.FaultOf(err) != fetch.Mismatch {
		t.Errorf("%s of an empty file: %v", d, err)
	}
}

// TestAlgorithms compares digests of all algorithms, with all names.
func TestAlgorithms(t *testing.T) {
	if n := len(Algorithms()); len(vectors) != n {
		t.Errorf("%d vectors for %d algorithms", len(vectors), n)
	}
	other := map[string][]string{
		"sha1": {"SHA-1", "sha"}, "sha256": {"SHA-256", "sha2", "Sha_256"}, "sha512": {"sha2", "SHA-512"}, "sha384": {"sha2"},
		"sha3-224": {"sha3"}, "sha3-256": {"sha3", "SHA3_256"}, "sha512/256": {"sha-512-256", "sha512256"},
	}
	for name, digest := range vectors {
		for _, name := range append(other[name], name) {
			for _, digest := range []string{digest, strings.ToUpper(digest)} {
				d, err := ParseDigest(name + "=" + digest)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				checkABC(t, d)
			}
		}
	}
}

func TestParseDigest(t *testing.T) {
	sri := func(name string) string {
		var b []byte
		fmt.Sscanf(vectors[name], "%x", &b)
		return name + "-" + base64.StdEncoding.EncodeToString(b)
	}
	wrong := "sha384-" + base64.StdEncoding.EncodeToString(make([]byte, 48))
	for _, text := range []string{
		sri("sha256"), sri("sha512"), sri("sha384") + "?ct=text/plain", sri("sha384") + " " + wrong, wrong + " " + sri("sha384"),
		"sha256-AAAA " + sri("sha256") + " unknown-AAAA", sri("sha512") + " " + wrong,
	} {
		d, err := ParseDigest(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		checkABC(t, d)
	}
	for _, text := range []string{
		"", "sha256", "sha256=", "sha256=00", "=00", "sha257=" + vectors["sha256"], "sha256=" + vectors["sha1"], "sha256-AAAA",
		"sha3=00", "blake2b=" + strings.Repeat("00", 65), vectors["sha256"], "md5-kAFQmDzST7DWlj99KOF/cg==", "sha256=" + vectors["sha256"] + " ",
	} {
		if d, err := ParseDigest(text); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	for name := range vectors {
		d, _ := ParseDigest(name + "=" + vectors[name])
		if weak := name == "crc32" || name == "md5" || name == "sha1"; d.Weak() != weak || (Weigh([]Check{d.Check("")}) != "") != weak {
			t.Errorf("%s: weak %v", name, d.Weak())
		}
	}
	if Weigh(nil) != "" {
		t.Error("a note without checks")
	}
}

// TestFields reads digests of header fields.
func TestFields(t *testing.T) {
	var sum []byte
	fmt.Sscanf(vectors["sha256"], "%x", &sum)
	text := base64.StdEncoding.EncodeToString(sum)
	member := "sha-256=:" + text + ":"
	for _, test := range []struct {
		name, value string
		want        string // algorithm
	}{
		{"Repr-Digest", member, "sha256"},
		{"repr-digest", "md5=:kAFQmDzST7DWlj99KOF/cg==:, " + member + ";p=1, unixsum=:AAA=:", "sha256"},
		{"Repr-Digest", "md5=:kAFQmDzST7DWlj99KOF/cg==:", "md5"},
		{"Repr-Digest", "sha-256=" + text, ""},
		{"Repr-Digest", "sha-256=:AAAA:", ""},
		{"Repr-Digest", "sha-256=::", ""},
		{"Repr-Digest", "sha-256=:", ""},
		{"Repr-Digest", "sha3-256=:" + text + ":", ""},
		{"Repr-Digest", strings.Repeat("a=:AAAA:,", maxMembers) + member, ""},
		{"Digest", "SHA-256=" + text, "sha256"},
		{"Digest", "SHA=qZk+NkcGgWq6PiVxeFDCbJzQ2J0=,MD5=kAFQmDzST7DWlj99KOF/cg==", "sha1"},
		{"Digest", "id-sha-256=" + text, ""},
		{"X-Digest", member, ""},
	} {
		d, _, ok := ReprDigest(fetch.Header{{Name: test.name, Value: test.value}})
		if ok != (test.want != "") || d.Algorithm != test.want {
			t.Errorf("%s: %s: %v, %v", test.name, test.value, d, ok)
			continue
		}
		if ok {
			checkABC(t, d)
		}
	}
	both := fetch.Header{{Name: "Digest", Value: "SHA=qZk+NkcGgWq6PiVxeFDCbJzQ2J0="}, {Name: "Repr-Digest", Value: member}, {Name: "Content-Digest", Value: member}}
	if d, source, _ := ReprDigest(both); d.Algorithm != "sha256" || source != "the field Repr-Digest" {
		t.Errorf("%v, %s", d, source)
	}
	if d, ok := ContentDigest(both); !ok || d.Algorithm != "sha256" {
		t.Errorf("%v, %v", d, ok)
	}
}

// TestSums reads files with digests.
func TestSums(t *testing.T) {
	hex, other := vectors["sha256"], strings.Repeat("00", 32)
	for _, test := range []struct {
		name   string
		source string
		text   string
		want   string // algorithms, or "error"
	}{
		{"text", "SHA256SUMS", hex + "  debian.iso\n", "sha256"},
		{"binary, CRLF", "SHA256SUMS", hex + " *debian.iso\r\n", "sha256"},
		{"one space", "SHA256SUMS", hex + " debian.iso", "sha256"},
		{"folders", "SHA256SUMS", hex + "  ./a/b/debian.iso\n" + other + "  debian.iso.torrent\n", "sha256"},
		{"name that begins with *", "SHA256SUMS", hex + " **debian.iso\n", "error"},
		{"BSD", "CHECKSUM", "# comment\nSHA256 (debian.iso) = " + hex + "\nSHA1 (debian.iso) = " + vectors["sha1"] + "\n", "sha256 sha1"},
		{"BSD, base64", "SHA256", "SHA256 (debian.iso) = ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n", "sha256"},
		{"BSD, upper case", "x", "SHA3-256 (debian.iso) = " + strings.ToUpper(vectors["sha3-256"]) + "\n", "sha3-256"},
		{"digest alone", "debian.iso.sha256", hex + "\n", "sha256"},
		{"digests alone", "x", hex + "\n" + other + "\n", "error"},
		{"algorithm in the name of the file", "https://a/SHA3SUMS?x=1", vectors["sha3-256"] + "  debian.iso\n", "sha3-256"},
		{"SHA384SUMS", "SHA384SUMS", vectors["sha384"] + "  debian.iso\n", "sha384"},
		{"MD5SUMS", "MD5SUMS", vectors["md5"] + "  debian.iso\n", "md5"},
		{"same digest twice", "x", hex + "  debian.iso\n" + hex + "  a/debian.iso\n", "sha256"},
		{"ambiguous", "x", hex + "  debian.iso\n" + other + "  a/debian.iso\n", "error"},
		{"missing", "x", hex + "  Debian.iso\n", "error"},
		{"part of a name", "x", hex + "  xdebian.iso\n" + hex + "  debian.iso.sig\n", "error"},
		{"no digests", "x", "hello\n", "error"},
		{"empty", "x", "", "error"},
		{"NUL", "x", hex + "  debian.iso\x00\n" + hex + "  x/\x00/debian.iso\n", "error"},
		{"parent", "x", hex + "  ../../debian.iso/..\n", "error"},
		{"escaped, other name", "x", `\` + hex + `  debian\n.iso` + "\n", "error"},
		{"escaped", "x", `\` + hex + `  a\\b/debian.iso` + "\n", "sha256"},
		{"bad escape", "x", `\` + hex + `  debian.iso\x` + "\n", "error"},
		{"odd digits", "x", hex + "0  debian.iso\n", "error"},
		{"lines of a signature", "x", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n" + hex + "  debian.iso\n-----BEGIN PGP SIGNATURE-----\nabcd\n", "sha256"},
	} {
		s, err := ReadSums(strings.NewReader(test.text), test.source)
		var found []Digest
		if err == nil {
			found, err = s.Find("debian.iso")
		}
		got := ""
		for _, d := range found {
			checkABC(t, d)
			got += " " + d.Algorithm
		}
		if err != nil {
			if got = " error"; fetch.FaultOf(err) != fetch.Mismatch {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if strings.TrimPrefix(got, " ") != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
	s, err := ReadSums(strings.NewReader(`\`+hex+`  a\nb\rc\\d`), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find("a\nb\rc\\d"); err != nil {
		t.Error(err)
	}
}

// TestManySums reads as many lines as MaxSums permits.
func TestManySums(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a list of many megabytes")
	}
	var b bytes.Buffer
	for i := 0; i < 1_000_000; i++ {
		fmt.Fprintf(&b, "%032x  f%d\n", i, i)
		if b.Len() > MaxSums-64 {
			break
		}
	}
	before := testing.AllocsPerRun(1, func() {
		s, err := ReadSums(bytes.NewReader(b.Bytes()), "MD5SUMS")
		if err != nil {
			t.Fatal(err)
		}
		if d, err := s.Find("f300000"); err != nil || d[0].String() != fmt.Sprintf("md5=%032x", 300000) {
			t.Error(d, err)
		}
	})
	t.Logf("%.0f allocations", before)
	endless := io.MultiReader(bytes.NewReader(b.Bytes()), strings.NewReader(strings.Repeat("x\n", MaxSums)))
	if _, err := ReadSums(endless, "x"); fetch.FaultOf(err) != fetch.TooLarge {
		t.Error(err)
	}
}

// TestSumsMemory checks that the text of a list is not copied, and that a line of
// many megabytes is not converted.
func TestSumsMemory(t *testing.T) {
	long := append(bytes.Repeat([]byte("x"), MaxSums-100), "\n"+vectors["sha256"]+"  f\n"...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := ParseSums(long, "SHA256SUMS")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > MaxSums/2 {
		t.Fatalf("%d bytes allocated, %v", used, err)
	}
	if d, err := s.Find("f"); err != nil || len(d) != 1 {
		t.Errorf("got %v, %v", d, err)
	}
}

// TestBody checks that a body ends with an error instead of io.EOF.
func TestBody(t *testing.T) {
	d, _ := ParseDigest("sha256=" + vectors["sha256"])
	for text, want := range map[string]fetch.Fault{"abc": 0, "abd": fetch.Mismatch, "": fetch.Mismatch, "abcd": fetch.Mismatch} {
		b := NewBody(io.NopCloser(strings.NewReader(text)), []Check{d.Check("x")}, nil)
		got, err := io.ReadAll(b)
		if string(got) != text || err == nil && want != 0 || err != nil && fetch.FaultOf(err) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if _, again := b.Read(make([]byte, 1)); err != nil && !errors.Is(again, err) {
			t.Errorf("%q: later error %v", text, again)
		}
	}
}

func FuzzSums(f *testing.F) {
	f.Add("SHA256SUMS", vectors["sha256"]+"  name\n", "name")
	f.Add("x", "MD5 (name) = "+vectors["md5"], "name")
	f.Add("x", `\`+vectors["sha1"]+` *a\nb`, "a\nb")
	f.Fuzz(func(t *testing.T, source, text, name string) {
		s, err := ReadSums(strings.NewReader(text), source)
		if err != nil {
			return
		}
		digests, err := s.Find(name)
		if err == nil && len(digests) == 0 {
			t.Error("neither digests nor an error")
		}
		for _, d := range digests {
			if c := d.Check("x"); len(d.Sums) != 1 || c.Verify() == nil && len(d.Sums[0]) > 8 && !strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", d.Sums[0])) && !strings.Contains(text, ") = ") {
				t.Errorf("%v", d)
			}
		}
	})
}

func FuzzDigest(f *testing.F) {
	f.Add("sha256="+vectors["sha256"], "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")
	f.Add("sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "SHA=x")
	f.Fuzz(func(t *testing.T, text, field string) {
		if d, err := ParseDigest(text); err == nil {
			d.Check("x").Write([]byte("x"))
			if again, err := ParseDigest(strings.Split(d.String(), " or ")[0]); err != nil || again.Algorithm != d.Algorithm {
				t.Errorf("%q: %v, %v", text, again, err)
			}
		}
		for _, name := range []string{"Repr-Digest", "Digest"} {
			if d, _, ok := ReprDigest(fetch.Header{{Name: name, Value: field}}); ok {
				d.Check("x").Verify()
			}
		}
	})
}
