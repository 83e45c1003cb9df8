package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// A signedSite serves an image in the manner of Debian, with signed digests.
type signedSite struct {
	*httptest.Server
	files map[string][]byte
	fail  bool // cut the first body of the image
}

func newSignedSite(t *testing.T) *signedSite {
	s := &signedSite{files: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Etag", `"1"`)
		if s.fail && strings.HasSuffix(r.URL.Path, ".iso") {
			s.fail = false
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			w.Write(text[:len(text)/2])
			return
		}
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(text))
	}))
	t.Cleanup(s.Close)
	return s
}

// sign adds the image and its digests, and writes the keys to the working
// directory.
func (s *signedSite) sign(t *testing.T) {
	g := peer.NewGnuPG(t)
	g.Run("--quick-gen-key", "debian@example.org", "rsa3072", "sign", "never")
	image := bytes.Repeat([]byte("Debian image\n"), 30_000)
	sums := fmt.Sprintf("%x  other.iso\n%x  debian.iso\n", sha512.Sum512(nil), sha512.Sum512(image))
	write := func(name string, text []byte) string {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	name := write("SUMS", []byte(sums))
	s.files["debian.iso"], s.files["other.iso"], s.files["SHA512SUMS"] = image, []byte("x"), []byte(sums)
	s.files["SHA512SUMS.sign"] = g.Run("--armor", "--output", "-", "--detach-sign", name)
	s.files["CHECKSUM"] = g.Run("--output", "-", "--clear-sign", name)
	write("debian-keyring.gpg", g.Run("--export"))
	key, signature := peer.Minisign(t, write("image", image), false)
	s.files["debian.iso.minisig"] = readTestFile(t, signature)
	write("minisign.pub", readTestFile(t, key))
	key, signature = peer.Signify(t, name, true)
	s.files["SHA512.sig"] = readTestFile(t, signature)
	write("signify.pub", readTestFile(t, key))
	s.files["both.meta4"] = fmt.Appendf(nil, `<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="debian.iso"><size>%d</size>`+
		`<hash type="sha-256">%x</hash><url>%s/debian.iso</url></file></metalink>`, len(image), sha256.Sum256(image), s.URL)
	for _, name := range []string{"SUMS", "image"} {
		os.Remove(name)
	}
}

func crc(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }

func integrity(text []byte) string {
	sum := sha512.Sum384(text)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}

func readTestFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestVerifyImage downloads an image like that of Debian with signed digests.
func TestVerifyImage(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSignedSite(t)
	s.sign(t)
	url := s.URL + "/debian.iso"
	good, bad := s.files["debian.iso"], append(bytes.Clone(s.files["debian.iso"][1:]), '\n')
	signed := []string{"--checksum-file", s.URL + "/SHA512SUMS", "--signature", s.URL + "/SHA512SUMS.sign", "--keyring", "debian-keyring.gpg"}
	digest := fmt.Sprintf("sha256=%x", sha256.Sum256(good))
	md5 := "md5=" + strings.Repeat("00", 16)
	for _, test := range []struct {
		name  string
		args  []string
		image []byte
		exit  int
		want  string // part of standard error
	}{
		{"signed digests", append(signed, "-v", "-O", url), good, 0, "* verified: sha512 of " + s.URL + "/SHA512SUMS"},
		{"signed digests, other name", append(signed, "-o", "other", url), good, 0, "SHA512SUMS: signature "},
		{"signed digests, standard output", append(signed, url), good, 0, ""},
		{"signed digests, WARC", append(signed, "--warc-file", "x.warc.gz", "-O", url), good, 0, ""},
		{"segments", append(signed, "--segments", "4", "-O", url), good, 0, ""},
		{"wrong image", append(signed, "-O", url), bad, 11, "but " + s.URL + "/SHA512SUMS requires sha512="},
		{"wrong image, resumable", append(signed, "-C", "-", "-O", url), bad, 11, ""},
		{"wrong image, standard output", append(signed, url), bad, 11, ""},
		{"two files, one wrong", append(signed, "-Z", "-O", url, s.URL+"/other.iso"), good, 11, "other.iso"},
		{"another key", append(slices.Clone(signed[:4]), "--keyring", "minisign.pub", "-O", url), good, 11, "keyring has no key"},
		{"signature of another file", []string{"--signature", s.URL + "/SHA512SUMS.sign", "--keyring", "debian-keyring.gpg", "-O", url}, good, 11, "is not valid"},
		{"signed text", []string{"--checksum-file", s.URL + "/CHECKSUM", "--keyring", "debian-keyring.gpg", "-O", url}, good, 0, "CHECKSUM: signature"},
		{"signed text of signify", []string{"--checksum-file", s.URL + "/SHA512.sig", "--keyring", "signify.pub", "-O", url}, good, 0, ""},
		{"digests without a signature", []string{"--checksum-file", s.URL + "/SHA512SUMS", "--keyring", "signify.pub", "-O", url}, good, 11, "has no signature"},
		{"minisign", []string{"-v", "--signature", s.URL + "/debian.iso.minisig", "--keyring", "minisign.pub", "-O", url}, good, 0, "(a comment)"},
		{"minisign, wrong image", []string{"--signature", s.URL + "/debian.iso.minisig", "--keyring", "minisign.pub", "-C", "-", "-O", url}, bad, 11, "wrong signature"},
		{"several digests", []string{"--checksum", digest, "--checksum", md5, "-O", url}, good, 11, "md5="},
		{"weak digest", []string{"--checksum", "crc32=" + crc(good), "-O", url}, good, 0, "crc32 detects damage, but does not prove the origin"},
		{"weak digest, quiet", []string{"-s", "--checksum", "crc32=" + crc(good), "-O", url}, good, 0, ""},
		{"integrity of a page", []string{"--checksum", integrity(good), "-O", url}, good, 0, ""},
		{"no digest for the name", append(slices.Clone(signed), "-O", s.URL+"/SHA512SUMS"), good, 11, `no digest for the name "SHA512SUMS"`},
		{"missing digests", []string{"--checksum-file", s.URL + "/none", "-O", url}, good, 8, "/none"},
		{"missing file", []string{"--checksum-file", "none", "-O", url}, good, 2, "neither a URL nor a file"},
		{"no keyring", []string{"--signature", "x", "-O", url}, good, 2, "--keyring"},
		{"no signature", []string{"--keyring", "x", "-O", url}, good, 2, "--signature"},
		{"one signature for two files", []string{"--signature", "x", "--keyring", "x", "-O", url, url}, good, 2, "one file"},
		{"header", append(signed, "-i", url), good, 2, "-i and -I"},
		{"unknown algorithm", []string{"--checksum", "sha257=00", url}, good, 2, "known: crc32"},
	} {
		s.files["debian.iso"] = test.image
		_, stderr := runFetchStderr(t, test.exit, test.args...)
		if !strings.Contains(stderr, test.want) || strings.Contains(strings.Join(test.args, " "), "-s ") && stderr != "" {
			t.Errorf("%s: %s", test.name, stderr)
		}
		left, _ := filepath.Glob("*.iso")
		parts, _ := filepath.Glob(".*")
		others, _ := filepath.Glob("other")
		left = append(left, others...)
		if wantFile := test.exit == 0 && slices.ContainsFunc(test.args, func(a string) bool { return a == "-O" || a == "-o" }); len(parts) > 0 ||
			wantFile != (len(left) == 1) && test.name != "two files, one wrong" {
			t.Errorf("%s: files %q, parts %q", test.name, left, parts)
		}
		for _, name := range left {
			if got := readTestFile(t, name); !bytes.Equal(got, good) {
				t.Errorf("%s: %s has %d bytes", test.name, name, len(got))
			}
			os.Remove(name)
		}
	}
}

// TestVerifyResumed resumes a file, whose first bytes are verified too.
func TestVerifyResumed(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSignedSite(t)
	s.sign(t)
	args := []string{"-C", "-", "--checksum-file", s.URL + "/SHA512SUMS", "--signature", s.URL + "/SHA512SUMS.sign", "--keyring", "debian-keyring.gpg",
		"-O", s.URL + "/debian.iso"}
	s.fail = true
	runFetch(t, 11, args...)
	if _, err := os.Stat(".debian.iso.part"); err != nil {
		t.Fatal(err)
	}
	runFetch(t, 0, args...)
	if !bytes.Equal(readTestFile(t, "debian.iso"), s.files["debian.iso"]) {
		t.Error("wrong file")
	}
	runFetch(t, 0, args...) // the complete file is verified again
	os.WriteFile("debian.iso", bytes.Repeat([]byte("x"), len(s.files["debian.iso"])), 0o666)
	runFetch(t, 11, args...)
}

// TestResponseDigests compares bodies with the digests of header fields.
func TestResponseDigests(t *testing.T) {
	t.Chdir(t.TempDir())
	body := bytes.Repeat([]byte("0123456789"), 10_000)
	sum := sha256.Sum256(body)
	good, wrong := base64.StdEncoding.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(make([]byte, 32))
	var name, value string
	cut := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		w.Header().Set("Etag", `"1"`)
		if cut {
			cut = false
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body[:50_000])
			return
		}
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(body))
	}))
	defer s.Close()
	for _, test := range []struct {
		name, value string
		args        []string
		cut         bool // interrupt the first body
		exit        int
	}{
		{"Repr-Digest", "sha-256=:" + good + ":", nil, false, 0},
		{"Repr-Digest", "sha-256=:" + wrong + ":", nil, false, 11},
		{"Repr-Digest", "sha-256=:" + wrong + ":", []string{"-C", "-"}, false, 11},
		{"Repr-Digest", "sha-256=:" + wrong + ":", []string{"--ignore-digests"}, false, 0},
		{"Repr-Digest", "sha-256=:" + good + ":", []string{"--segments", "3"}, false, 0},
		{"Repr-Digest", "sha-256=:" + wrong + ":", []string{"--segments", "3"}, false, 11},
		{"Repr-Digest", "sha-256=:" + good + ":", []string{"--retry", "1", "--retry-delay", "0"}, true, 0},
		{"Repr-Digest", "sha-256=:" + wrong + ":", []string{"--retry", "1", "--retry-delay", "0"}, true, 11},
		{"Repr-Digest", "sha-256=:" + wrong + ":", []string{"-r", "0-9"}, false, 0},
		{"Content-Digest", "sha-256=:" + good + ":", nil, false, 0},
		{"Content-Digest", "sha-256=:" + wrong + ":", nil, false, 11},
		{"Content-Digest", "sha-256=:" + good + ":", []string{"-r", "0-9"}, false, 11},
		{"Digest", "SHA-256=" + good, nil, false, 0},
		{"Digest", "SHA-256=" + wrong, nil, false, 11},
		{"Digest", "SHA-256=" + wrong, []string{"--warc-file", "w.warc"}, false, 11},
		{"Digest", "unixsum=30637, adler32=03da0195", nil, false, 0},
	} {
		name, value, cut = test.name, test.value, test.cut
		_, stderr := runFetchStderr(t, test.exit, append([]string{"-v", "-o", "out", s.URL + "/f"}, test.args...)...)
		_, err := os.Stat("out")
		if (err == nil) != (test.exit == 0) {
			t.Errorf("%s: %s %q: %v: %s", test.name, test.value, test.args, err, stderr)
		}
		if parts, _ := filepath.Glob(".*"); len(parts) > 0 {
			t.Errorf("%s %q: parts %q", test.name, test.args, parts)
		}
		os.Remove("out")
	}
	if text := string(readTestFile(t, "w.warc")); !strings.Contains(text, "\r\nDigest: SHA-256="+wrong+"\r\n") {
		t.Error("the WARC file does not have the field")
	}
	// The second command appends to the bytes of the first.
	for sum, exit := range map[string]int{good: 0, wrong: 11} {
		name, value, cut = "Repr-Digest", "sha-256=:"+sum+":", true
		runFetch(t, 11, "-C", "-", "-o", "out", s.URL+"/f")
		runFetch(t, exit, "-C", "-", "-o", "out", s.URL+"/f")
		os.Remove("out")
	}
}

// TestVerifyPage runs the commands of doc/verify-downloads.md.
func TestVerifyPage(t *testing.T) {
	page := string(readTestFile(t, filepath.Join("..", "..", "doc", "verify-downloads.md")))
	t.Chdir(t.TempDir())
	s := newSignedSite(t)
	s.sign(t)
	n := 0
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", "")) {
		command, ok := strings.CutPrefix(line, "    fetch ")
		if !ok {
			continue
		}
		n++
		digest := sha256.Sum256(s.files["debian.iso"])
		command = strings.NewReplacer("https://example.org", s.URL, "HEX", fmt.Sprintf("%x", digest)).Replace(command)
		runFetch(t, 0, strings.Fields(command)...)
		if got := readTestFile(t, "debian.iso"); !bytes.Equal(got, s.files["debian.iso"]) {
			t.Errorf("%s: %d bytes", command, len(got))
		}
		os.Remove("debian.iso")
	}
	if n < 6 {
		t.Errorf("%d commands", n)
	}
}

// TestMetalink downloads an image from several mirrors, of which one has a bad
// piece: the case of a Debian image.
func TestMetalink(t *testing.T) {
	t.Chdir(t.TempDir())
	good, bad := newSignedSite(t), newSignedSite(t)
	good.sign(t)
	const piece = 64 << 10
	image := good.files["debian.iso"]
	wrong := bytes.Clone(image)
	wrong[2*piece]++
	bad.files["debian.iso"] = wrong
	document := func(urls ...string) []byte {
		var b bytes.Buffer
		fmt.Fprintf(&b, `<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="debian.iso"><size>%d</size><hash type="sha-256">%x</hash><pieces length="%d" type="sha-256">`,
			len(image), sha256.Sum256(image), piece)
		for i := 0; i < len(image); i += piece {
			fmt.Fprintf(&b, "<hash>%x</hash>", sha256.Sum256(image[i:min(i+piece, len(image))]))
		}
		b.WriteString("</pieces>")
		for i, u := range urls {
			fmt.Fprintf(&b, `<url priority="%d">%s</url>`, i+1, u)
		}
		b.WriteString("</file></metalink>")
		return b.Bytes()
	}
	image1, image2 := bad.URL+"/debian.iso", good.URL+"/debian.iso"
	good.files["both.meta4"] = document(image1, image2)
	good.files["bad.meta4"] = document(image1)
	good.files["evil.meta4"] = bytes.ReplaceAll(document(image2), []byte("debian.iso\"><size"), []byte("../../debian.iso\"><size"))
	if err := os.WriteFile("local.meta4", document(image2), 0o666); err != nil {
		t.Fatal(err)
	}
	signed := []string{"--checksum-file", good.URL + "/SHA512SUMS", "--signature", good.URL + "/SHA512SUMS.sign", "--keyring", "debian-keyring.gpg"}
	for _, test := range []struct {
		name string
		args []string
		exit int
	}{
		{"bad piece on the first mirror", []string{"--metalink", "-O", good.URL + "/both.meta4"}, 0},
		{"with signed digests", append(signed, "--metalink", "-O", good.URL+"/both.meta4"), 0},
		{"with -C -", []string{"--metalink", "-C", "-", "-O", good.URL + "/both.meta4"}, 0},
		{"with -o", []string{"--metalink", "-o", "debian.iso", good.URL + "/both.meta4"}, 0},
		{"only the bad mirror", []string{"--metalink", "-O", good.URL + "/bad.meta4"}, 11},
		{"folders in the name", []string{"--metalink", "-O", good.URL + "/evil.meta4"}, 0},
		{"local document, mirror on this machine", []string{"--metalink", "-O", "local.meta4"}, 9},
		{"Metalink/HTTP", []string{"--metalink", "-O", image2}, 0},
		{"two mirrors of the command line", []string{"--mirror-url", image2, "-O", good.URL + "/debian.iso", "--checksum", fmt.Sprintf("sha256=%x", sha256.Sum256(image))}, 0},
		{"bad mirror of the command line", []string{"--mirror-url", image1, "-O", bad.URL + "/debian.iso", "--checksum", fmt.Sprintf("sha256=%x", sha256.Sum256(image))}, 11},
		{"dead mirror", []string{"--mirror-url", good.URL + "/none", "-O", image2}, 0},
		{"no document", []string{"--metalink", "-O", good.URL + "/SHA512SUMS.meta4"}, 8},
		{"range", []string{"--metalink", "-r", "0-1", good.URL + "/both.meta4"}, 2},
		{"WARC", []string{"--metalink", "--warc-file", "x.warc", good.URL + "/both.meta4"}, 2},
		{"two URLs", []string{"--mirror-url", image1, image1, image2}, 2},
	} {
		_, stderr := runFetchStderr(t, test.exit, test.args...)
		got, err := os.ReadFile("debian.iso")
		if test.exit == 0 && !bytes.Equal(got, image) || test.exit != 0 && err == nil {
			t.Errorf("%s: %d bytes, %v: %s", test.name, len(got), err, stderr)
		}
		if parts, _ := filepath.Glob(".*"); len(parts) > 0 {
			t.Errorf("%s: parts %q", test.name, parts)
		}
		os.Remove("debian.iso")
	}
}
