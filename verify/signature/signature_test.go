package signature

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
)

const content = "This is the file.\nIt has two lines.\n"

// check verifies content with a signature in parts of different sizes.
func check(t *testing.T, keys, sig []byte, content string) error {
	t.Helper()
	var k Keyring
	if err := k.Add(keys, "the keyring"); err != nil {
		t.Fatal(err)
	}
	c, err := k.Check(sig, "the signature")
	if err != nil {
		return err
	}
	c.Write([]byte("bytes of another version"))
	c.Reset()
	for n := 0; len(content) > 0; n++ {
		part := content[:min(n, len(content))]
		c.Write([]byte(part))
		content = content[len(part):]
	}
	err = c.Verify()
	if err == nil && !strings.HasPrefix(c.String(), "signature the signature by the key ") {
		t.Errorf("description: %s", c)
	}
	return err
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestShort verifies signatures that minisign and signify have written.
func TestShort(t *testing.T) {
	for _, test := range []struct {
		name string
		sign func(t peer.TB, path string, variant bool) (key, signature string)
		flag bool
	}{
		{"minisign, digest", peer.Minisign, false},
		{"minisign, file", peer.Minisign, true},
		{"signify", peer.Signify, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := write(t, content)
			key, sig := test.sign(t, name, test.flag)
			other, _ := test.sign(t, name, test.flag)
			keyText, sigText := read(t, key), read(t, sig)
			if err := check(t, keyText, sigText, content); err != nil {
				t.Error(err)
			}
			for name, err := range map[string]error{
				"another file":  check(t, keyText, sigText, content+"x"),
				"empty file":    check(t, keyText, sigText, ""),
				"another key":   check(t, read(t, other), sigText, content),
				"two":           check(t, keyText, append(bytes.Clone(sigText), sigText...), content),
				"cut":           check(t, keyText, sigText[:len(sigText)-20], content),
				"wrong comment": check(t, keyText, bytes.Replace(sigText, []byte("a comment"), []byte("A comment"), 1), content),
			} {
				if name == "wrong comment" && !bytes.Contains(sigText, []byte("a comment")) {
					continue
				}
				if fetch.FaultOf(err) != fetch.Mismatch {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// TestLargeFile checks that a signature of the file itself is limited.
func TestLargeFile(t *testing.T) {
	key, sig := peer.Signify(t, write(t, content), false)
	var k Keyring
	if err := k.Add(read(t, key), "k"); err != nil {
		t.Fatal(err)
	}
	c, err := k.Check(read(t, sig), "s")
	if err != nil {
		t.Fatal(err)
	}
	for range maxMemory>>20 + 1 {
		c.Write(make([]byte, 1<<20))
	}
	if err := c.Verify(); fetch.FaultOf(err) != fetch.TooLarge {
		t.Error(err)
	}
}

// TestOpenPGP verifies signatures that gpg has written.
func TestOpenPGP(t *testing.T) {
	g, other := peer.NewGnuPG(t), peer.NewGnuPG(t)
	g.Run("--quick-gen-key", "one@example.org", "ed25519", "sign", "never")
	g.Run("--quick-gen-key", "two@example.org", "rsa2048", "sign", "never")
	other.Run("--quick-gen-key", "three@example.org", "ed25519", "sign", "never")
	name := write(t, content)
	keys, strangers := g.Run("--export"), other.Run("--export")
	sign := func(args ...string) []byte { return g.Run(append(args, "--output", "-", "--detach-sign", name)...) }
	sig := sign("-u", "one@example.org")
	two := sign("-u", "two@example.org", "--digest-algo", "SHA512")
	foreign := other.Run("--output", "-", "--detach-sign", name)
	armored := sign("-u", "one@example.org", "--armor")
	for _, test := range []struct {
		name      string
		keys, sig []byte
		content   string
		want      fetch.Fault
	}{
		{"binary", keys, sig, content, 0},
		{"armored", keys, armored, content, 0},
		{"armored keys", g.Run("--armor", "--export"), sig, content, 0},
		{"two blocks of keys", append(other.Run("--armor", "--export"), g.Run("--armor", "--export")...), sig, content, 0},
		{"RSA and SHA-512", keys, two, content, 0},
		{"text", keys, g.Run("--textmode", "--output", "-", "--detach-sign", name), content, 0},
		{"two signatures", keys, append(bytes.Clone(sig), two...), content, 0},
		{"a signature by an unknown key", keys, append(bytes.Clone(foreign), sig...), content, 0},
		{"another file", keys, sig, content + "x", fetch.Mismatch},
		{"empty file", keys, sig, "", fetch.Mismatch},
		{"another key", strangers, sig, content, fetch.Mismatch},
		{"two signatures, one wrong", keys, append(bytes.Clone(sig), g.Run("-u", "two@example.org", "--output", "-", "--detach-sign", write(t, "x"))...), content, fetch.Mismatch},
		{"two armored blocks", keys, append(bytes.Clone(armored), armored...), content, fetch.Mismatch},
		{"SHA-1", keys, sign("-u", "two@example.org", "--digest-algo", "SHA1"), content, fetch.Mismatch},
		{"cut", keys, sig[:len(sig)-5], content, fetch.Mismatch},
		{"empty", keys, nil, content, fetch.Mismatch},
		{"a public key", keys, keys, content, fetch.Mismatch},
		{"a signed message", keys, g.Run("--output", "-", "--sign", name), content, fetch.Mismatch},
		{"expired signature", keys, sign("--faked-system-time", "20990101T000000!", "--default-sig-expire", "1d"), content, fetch.Mismatch},
	} {
		err := check(t, test.keys, test.sig, test.content)
		if err == nil && test.want != 0 || err != nil && fetch.FaultOf(err) != test.want {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestOpenPGPKeys rejects signatures by keys that are not valid.
func TestOpenPGPKeys(t *testing.T) {
	name := write(t, content)
	for _, test := range []struct {
		name, algorithm string
		valid           string   // validity of the key
		create, sign    []string // options of gpg
		revoke          bool
	}{
		{name: "expired signature", algorithm: "ed25519", valid: "never", create: []string{"--faked-system-time", "20200101T000000!"},
			sign: []string{"--faked-system-time", "20200102T000000!", "--default-sig-expire", "1d"}},
		{name: "key expired before the signature", algorithm: "ed25519", valid: "1d", create: []string{"--faked-system-time", "20200101T000000!"},
			sign: []string{"--faked-system-time", "20200101T120000!"}, revoke: true},
		{name: "revoked key", algorithm: "ed25519", valid: "never", revoke: true},
		{name: "DSA", algorithm: "dsa2048", valid: "never"},
		{name: "short RSA", algorithm: "rsa1024", valid: "never"},
	} {
		g := peer.NewGnuPG(t)
		g.Run(append(test.create, "--quick-gen-key", "one@example.org", test.algorithm, "sign", test.valid)...)
		sig := g.Run(append(test.sign, "--output", "-", "--detach-sign", name)...)
		if test.revoke {
			g.Revoke()
		}
		if err := check(t, g.Run("--export"), sig, content); fetch.FaultOf(err) != fetch.Mismatch {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestInline verifies texts that contain their signature.
func TestInline(t *testing.T) {
	text := "- a dash\n\nfile with spaces   \nlast line\n"
	name := write(t, text)
	g := peer.NewGnuPG(t)
	g.Run("--quick-gen-key", "one@example.org", "ed25519", "sign", "never")
	var k, short Keyring
	key, embedded := peer.Signify(t, name, true)
	for ring, text := range map[*Keyring][]byte{&k: g.Run("--export"), &short: read(t, key)} {
		if err := ring.Add(text, "keys"); err != nil {
			t.Fatal(err)
		}
	}
	clear := g.Run("--output", "-", "--clear-sign", name)
	for _, test := range []struct {
		name string
		ring *Keyring
		text []byte
		want string
		good bool
	}{
		{"OpenPGP", &k, clear, "- a dash\n\nfile with spaces\nlast line\n", true},
		{"text behind the signature", &k, append(bytes.Clone(clear), "more\n"...), "- a dash\n\nfile with spaces\nlast line\n", true},
		{"signify", &short, read(t, embedded), text, true},
		{"changed text", &k, bytes.Replace(clear, []byte("last"), []byte("lost"), 1), "", false},
		{"changed text, signify", &short, append(read(t, embedded), 'x'), "", false},
		{"text before the signature", &k, append([]byte("x\n"), clear...), "", false},
		{"no signature", &k, []byte(text), "", false},
		{"another key", &short, clear, "", false},
		{"cut", &k, clear[:len(clear)/2], "", false},
	} {
		got, _, err := test.ring.Open(test.text, "text")
		if (err == nil) != test.good || string(got) != test.want {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
		if err != nil && fetch.FaultOf(err) != fetch.Mismatch {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestKeyring checks files that contain no keys.
func TestKeyring(t *testing.T) {
	for _, text := range []string{"", "text", "untrusted comment: x\nRWQ=\n", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxx\n", "\x00\x00\x00\x20\x01\x01\x00\x02KBXf"} {
		var k Keyring
		if err := k.Add([]byte(text), "keys"); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzSignature checks that no signature of unknown origin verifies.
func FuzzSignature(f *testing.F) {
	var k Keyring
	key := "untrusted comment: k\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n" // the key of minisign's author
	if err := k.Add([]byte(key), "k"); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("untrusted comment: x\nRUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n" +
		"trusted comment: timestamp:1633700835\nwLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==\n"))
	f.Add([]byte("-----BEGIN PGP SIGNATURE-----\n\nxx\n-----END PGP SIGNATURE-----\n"))
	f.Add([]byte(clearPrefix + "\nHash: SHA256\n\n- x\n" + armorBegin + "\n\nxx\n" + armorEnd))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := k.Check(text, "s"); err == nil {
			c.Write([]byte("x"))
			if c.Verify() == nil {
				t.Error("verified")
			}
		}
		if _, _, err := k.Open(text, "s"); err == nil {
			t.Error("opened")
		}
	})
}
