package rsync

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// upTo returns the scheme, which announces at most the given version.
func upTo(version int) []fetch.Scheme {
	all := Schemes()
	all[0].Open = func(env fetch.Env) fetch.Driver {
		d := newDriver(env)
		d.newest = version
		return d
	}
	return all
}

// testVersions requests a file with a login, and checks the digest of the files
// that was negotiated.
func testVersions(t *testing.T, s *peer.Server) {
	s.Put("dir/data.bin", big)
	at := time.Unix(1_700_000_000, 123_456_789).UTC()
	if err := os.Chtimes(filepath.Join(s.Root, "dir", "data.bin"), at, at); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		version int
		want    string
		time    time.Time
	}{
		{27, "protocol 27 with md4", at.Truncate(time.Second)},
		{30, "protocol 30 with xxh64", at.Truncate(time.Second)},
		{31, "protocol 31 with xxh64", at},
	} {
		t.Run(fmt.Sprint(test.version), func(t *testing.T) {
			c := schemetest.NewClient(t, upTo(test.version))
			req := schemetest.NewRequest(t, fmt.Sprintf("rsync://%s:%s@%s/private/dir/data.bin", peer.User, peer.Password, s.Addr))
			var notes []string
			req.Trace = &trace.Trace{Detail: func(note string) { notes = append(notes, note) }}
			resp, body, err := schemetest.ReadRequest(t, c, req)
			if err != nil || body != string(big) {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			if !resp.Time.Equal(test.time) {
				t.Errorf("time %v, want %v", resp.Time, test.time)
			}
			if !slices.Contains(notes, test.want) {
				t.Errorf("%q", notes)
			}
		})
	}
}

// TestVersions uses each version of the protocol.
func TestVersions(t *testing.T) {
	t.Run("Debian 12", func(t *testing.T) { testVersions(t, peer.Rsyncd(t)) })
	t.Run("Debian 13", func(t *testing.T) { testVersions(t, peer.RsyncdNewer(t)) })
}

// TestGreeting parses greetings of servers.
func TestGreeting(t *testing.T) {
	for _, test := range []struct {
		name, line string
		limit      int
		want       string
	}{
		{"before 30", "@RSYNCD: 29", newest, "@RSYNCD: 27\n md4"},
		{"version 28.0", "@RSYNCD: 28.0", newest, "@RSYNCD: 27\n md4"},
		{"rsync 3.0", "@RSYNCD: 30.0", newest, "@RSYNCD: 30.0\n md5"},
		{"before the release of 31", "@RSYNCD: 31.14", newest, "@RSYNCD: 27\n md4"},
		{"30 without a second number", "@RSYNCD: 30", newest, "@RSYNCD: 27\n md4"},
		{"rsync 3.1", "@RSYNCD: 31.0", newest, "@RSYNCD: 31.0\n md5"},
		{"rsync 3.2.7", "@RSYNCD: 31.0 sha512 sha256 sha1 md5 md4", newest, "@RSYNCD: 31.0 sha512 sha256 md5\n sha512"},
		{"later version", "@RSYNCD: 99.7 sha256", newest, "@RSYNCD: 31.0 sha512 sha256 md5\n sha256"},
		{"unknown digests", "@RSYNCD: 31.0 x y", newest, "@RSYNCD: 31.0 sha512 sha256 md5\n "},
		{"limit 30", "@RSYNCD: 31.0", 30, "@RSYNCD: 30.0\n md5"},
		{"limit 27", "@RSYNCD: 31.0 sha512", 27, "@RSYNCD: 27\n md4"},
		{"old", "@RSYNCD: 26", newest, "protocol"},
		{"huge", "@RSYNCD: 1000000000000000000000000.0", newest, "protocol"},
		{"negative", "@RSYNCD: -31.0", newest, "protocol"},
		{"no version", "@RSYNCD: OK", newest, "protocol"},
	} {
		g, err := parseGreeting(test.line, test.limit)
		got := g.reply() + " " + g.digest
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// varEntry returns an entry of a list in version 30 or later. Size and mode must
// be small.
func varEntry(name string, size, mode int) []byte {
	b := append([]byte{1 << 3, byte(len(name))}, name...)
	b = append(b, 0, byte(size), byte(size>>8)) // at least three bytes
	b = append(b, 0x3b, 0, 0xca, 0x9a)          // at least four bytes
	return appendInts(b, int32(mode))
}

// varAccepted is the greeting of a server of version 31, until it sends its flags.
const varAccepted = "@RSYNCD: 31.0\n@RSYNCD: OK\n"

// TestHostileVersion connects to servers of version 31 that violate the protocol.
// Their flags and the names of their digests are part of the greeting.
func TestHostileVersion(t *testing.T) {
	wide := varAccepted + "\x80\x80" // 0x80 as a number of two bytes
	sum := func(text string) []byte {
		h := newXXH64()
		io.WriteString(h, text)
		return h.Sum(nil)
	}
	sum5 := md5.Sum([]byte("abc"))
	kind := []byte{0, transfer >> 8}
	file := slices.Clip(script(nil).data(varEntry("f", 3, fileMode), byte(0), byte(0)))
	reply := slices.Clip(file.data(byte(1), kind, 0, 0, 0, 0))
	plain := slices.Clip(script(nil).data(varEntry("f", 3, fileMode), byte(0), byte(1), kind, 0, 0, 0, 0, 3, "abc", 0, sum5[:]))
	for _, test := range []struct {
		name, greeting string
		rest           script
		path, want     string
	}{
		{"good", wide + "\x09md5 xxh64", reply.data(3, "abc", 0, sum("abc")), "f", "document of 3 bytes"},
		{"without negotiation", varAccepted + "\x00", plain, "f", "document of 3 bytes"},
		{"only MD5", wide + "\x03md5", file.data(byte(1), kind, 0, 0, 0, 0, 3, "abc", 0, sum5[:]), "f", "document of 3 bytes"},
		{"long index", wide + "\x05xxh64", file.data(byte(longIndex), byte(0x80), byte(0), byte(0), byte(0), kind, 0, 0, 0, 0, 3, "abc", 0, sum("abc")), "f", "document of 3 bytes"},
		{"flags of 64 bits", varAccepted + strings.Repeat("\xff", 9), nil, "f", "protocol"},
		{"lists in parts", varAccepted + "\x01", nil, "f", "protocol"},
		{"unknown digests", wide + "\x04none", nil, "f", "unsupported"},
		{"no digests", wide + "\x00", nil, "f", "unsupported"},
		{"names of 32 KiB", wide + "\xff\xff", nil, "f", "protocol"},
		{"cut names", wide + "\x10xxh", nil, "f", "truncated"},
		{"wrong digest", wide + "\x05xxh64", reply.data(3, "abc", 0, sum("abd")), "f", "integrity"},
		{"short file", wide + "\x05xxh64", reply.data(2, "ab", 0, sum("ab")), "f", "truncated"},
		{"cut file", wide + "\x05xxh64", reply.data(3, "ab"), "f", "truncated"},
		{"cut digest", wide + "\x05xxh64", reply.data(3, "abc", 0, "1234567"), "f", "truncated"},
		{"token of 2 GiB", wide + "\x05xxh64", reply.data(0x7fffffff, "abc"), "f", "truncated"},
		{"negative token", wide + "\x05xxh64", reply.data(-5), "f", "protocol"},
		{"another index", wide + "\x05xxh64", file.data(byte(8), kind, 0, 0, 0, 0), "f", "protocol"},
		{"index of 31 bits", wide + "\x05xxh64", file.data(byte(longIndex), "\xff\xff\xff\xff", kind, 0, 0, 0, 0), "f", "protocol"},
		{"negative index", wide + "\x05xxh64", file.data(byte(negativeIndex), byte(1), kind, 0, 0, 0, 0), "f", "protocol"},
		{"end of the files", wide + "\x05xxh64", file.data(byte(endOfFiles)), "f", "server-perm"},
		{"no transfer", wide + "\x05xxh64", file.data(byte(1), byte(0), byte(0)), "f", "protocol"},
		{"another name", wide + "\x05xxh64", file.data(byte(1), byte(0), byte((transfer|otherName)>>8), byte(1), "x"), "f", "protocol"},
		{"another basis", wide + "\x05xxh64", file.data(byte(1), byte(0), byte((transfer|otherBasis)>>8), byte(1)), "f", "protocol"},
		{"blocks", wide + "\x05xxh64", file.data(byte(1), kind, 5, 700, 16, 0), "f", "protocol"},
		{"no file", wide + "\x05xxh64", file.message(dataTag+1, []byte("send_files failed to open: Permission denied (13)")).message(dataTag+102, make([]byte, 4)), "f", "server-perm"},
		{"no file without a reason", wide + "\x05xxh64", file.message(dataTag+102, nil), "f", "server-perm"},
		{"negative size", wide + "\x05xxh64", script(nil).data(byte(1<<3), byte(1), "f", "\xfc\xff\xff\xff\xff\xff\xff\xff\xff"), "f", "protocol"},
		{"size of 72 bits", wide + "\x05xxh64", script(nil).data(byte(1<<3), byte(1), "f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "f", "protocol"},
		{"name of 2 GiB", wide + "\x05xxh64", script(nil).data(byte(longName), "\xf0\xff\xff\xff\x7f"), "f", "protocol"},
		{"negative name", wide + "\x05xxh64", script(nil).data(byte(longName), "\xf0\xff\xff\xff\xff"), "f", "protocol"},
		{"name of 40 bits", wide + "\x05xxh64", script(nil).data(byte(longName), "\xf8\xff\xff\xff\xff\xff\xff"), "f", "protocol"},
		{"prefix of no name", wide + "\x05xxh64", script(nil).data(byte(sameName), byte(200), byte(1), "x"), "f", "protocol"},
		{"link of 2 GiB", wide + "\x05xxh64", script(nil).data(varEntry("f", 3, linkType), "\xf0\xff\xff\xff\x7f"), "f", "protocol"},
		{"two files", wide + "\x05xxh64", script(nil).data(varEntry("f", 3, fileMode), varEntry("g", 3, fileMode)), "f", "protocol"},
		{"names outside", wide + "\x05xxh64", script(nil).data(varEntry(".", 0, dirMode), varEntry("..", 0, dirMode), varEntry("/etc", 0, dirMode), varEntry("a/b", 1, fileMode), byte(0), byte(0)), "d/", "menu of 3"},
		{"incomplete directory", wide + "\x05xxh64", script(nil).data(varEntry(".", 0, dirMode), byte(0), byte(1)), "d/", "server-perm"},
		{"errors in a message", wide + "\x05xxh64", script(nil).data(varEntry(".", 0, dirMode)).message(dataTag+22, []byte{1, 0, 0, 0}).data(byte(0), byte(0)), "d/", "server-perm"},
		{"errors at the end of a list", varAccepted + "\x08", script(nil).data(varEntry(".", 0, dirMode), byte(moreFlags), byte(endWithErrors>>8), byte(1)), "d/", "server-perm"},
		{"cut directory", wide + "\x05xxh64", script(nil).data(varEntry(".", 0, dirMode), varEntry("x", 0, dirMode)), "d/", "truncated"},
		{"many messages without data", wide + "\x05xxh64", bytes.Repeat(script(nil).message(dataTag+42, nil), 10_000), "f", "protocol"},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := hostile(t, test.greeting, func(w io.Writer) { w.Write(test.rest) })
			c := schemetest.NewClient(t, Schemes())
			defer c.Close()
			if got := schemetest.Summary(c.Get(t.Context(), "rsync://"+addr+"/m/"+test.path)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestNumbers reads numbers of variable lengths.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		name    string
		minimum int
		bytes   string
		want    int64 // -1 for an error
	}{
		{"zero", 1, "\x00", 0},
		{"one byte", 1, "\x7f", 127},
		{"two bytes", 1, "\x80\x80", 128},
		{"two bytes, high bits", 1, "\xbf\xff", 0x3fff},
		{"three bytes", 1, "\xc1\x34\x12", 0x11234},
		{"four bytes", 1, "\xef\xff\xff\xff", 0xfffffff},
		{"five bytes", 1, "\xf0\xff\xff\xff\x7f", math.MaxInt32},
		{"size of three bytes", 3, "\x00\x01\x00", 1},
		{"size of 1 GiB", 3, "\xc0\x00\x00\x00\x40", 1 << 30},
		{"time of four bytes", 4, "\x3b\x00\xca\x9a", 0x3b9aca00},
		{"cut", 3, "\xc0\x00", -1},
		{"too long", 4, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", -1},
	} {
		s := streamOf([]byte(test.bytes))
		got, err := s.varlong(test.minimum)
		if err != nil {
			got = -1
		}
		if got != test.want {
			t.Errorf("%s: %d, %v, want %d", test.name, got, err, test.want)
		}
	}
}

// streamOf returns a stream of version 31 with data that is not multiplexed.
func streamOf(b []byte) *stream {
	return &stream{r: bufio.NewReader(bytes.NewReader(b)), left: len(b), version: newest, lastIndex: -1, sticky: io.ErrUnexpectedEOF}
}

// FuzzNumbers reads arbitrary numbers, and indexes that were encoded.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte("\xf0\xff\xff\xff\x7f"), uint32(7))
	f.Fuzz(func(t *testing.T, b []byte, seed uint32) {
		s := streamOf(b)
		for s.left > 0 {
			if n, err := s.fileIndex(); err == nil && n < -1 {
				t.Errorf("index %d", n)
			}
			s.varint()
			s.varlong(3)
		}
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		var all []int32
		var text []byte
		for last := int32(-1); len(all) < 20; last = all[len(all)-1] {
			n := random.Int32() >> random.IntN(31)
			if random.IntN(3) == 0 && last < math.MaxInt32 {
				n = last + 1
			}
			all, text = append(all, n), appendIndex(text, n, last)
		}
		s = streamOf(text)
		for i, want := range all {
			if n, err := s.fileIndex(); n != want {
				t.Fatalf("%d: %d, %v, want %d", i, n, err, want)
			}
		}
	})
}

// TestXXH64 compares digests with those of the reference implementation.
func TestXXH64(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "ef46db3751d8e999"},
		{"a", "d24ec4f1a98c6e5b"},
		{"abc", "44bc2cf5ad770999"},
		{"xxhash", "32dd38952c4bc720"},
		{"Nobody inspects the spammish repetition", "fbcea83c8a378bf1"},
	} {
		h := newXXH64()
		for i := range len(test.text) { // in parts
			io.WriteString(h, test.text[i:i+1])
		}
		got := binary.LittleEndian.Uint64(h.Sum(nil))
		h.Reset()
		io.WriteString(h, test.text)
		if again := binary.LittleEndian.Uint64(h.Sum(nil)); again != got {
			t.Errorf("%q: %x in parts, %x at once", test.text, got, again)
		}
		if text := fmt.Sprintf("%016x", got); text != test.want {
			t.Errorf("%q: %s, want %s", test.text, text, test.want)
		}
	}
	// All lengths of the last block, written in parts of all lengths.
	data := make([]byte, 200)
	rand.NewChaCha8([32]byte{}).Read(data)
	for n := range len(data) {
		whole, parts := newXXH64(), newXXH64()
		whole.Write(data[:n])
		for rest, size := data[:n], 1; len(rest) > 0; size++ {
			k := min(size, len(rest))
			parts.Write(rest[:k])
			rest = rest[k:]
		}
		if a, b := hex.EncodeToString(whole.Sum(nil)), hex.EncodeToString(parts.Sum(nil)); a != b {
			t.Errorf("%d bytes: %s and %s", n, a, b)
		}
	}
}
