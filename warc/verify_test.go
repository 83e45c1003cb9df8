package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestVerifyWhole: nothing is wrong with what a Writer wrote, packed or not,
// by either digest.
func TestVerifyWhole(t *testing.T) {
	for _, opts := range []Options{{}, {Uncompressed: true}, {Digest: SHA256}} {
		base := testOptions()
		base.Uncompressed, base.Digest = opts.Uncompressed, opts.Digest
		for f, err := range Verify(sample(t, base)) {
			t.Error(f, err)
		}
	}
}

// members packs each text as a gzip member.
func members(texts ...string) []byte {
	var b bytes.Buffer
	for _, s := range texts {
		b.WriteString(gzipped(s))
	}
	return b.Bytes()
}

// rec is a record as text: the fields given, one a line, between those that
// every record has.
func rec(id int, fields, block string) string {
	head := fmt.Sprintf("WARC/1.1\r\nWARC-Record-ID: <urn:x:%d>\r\nWARC-Date: 2026-11-21T08:30:00Z\r\n", id)
	if !strings.Contains(fields, "Content-Length") {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(block))
	}
	if fields != "" {
		head += strings.ReplaceAll(fields, "\n", "\r\n") + "\r\n"
	}
	return head + "\r\n" + block + "\r\n\r\n"
}

const (
	helloSum = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N" // of "hello"
	emptySum = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
)

func res(id int, more string) string {
	return rec(id, "WARC-Type: resource\nWARC-Target-URI: file:///"+fmt.Sprint(id)+more, "hello")
}

func web(id int, more, block string) string {
	return rec(id, "WARC-Type: response\nWARC-Target-URI: http://h.example/\nContent-Type: application/http;msgtype=response"+more, block)
}

// TestVerifyRecords: each damage to a record whose bytes came through is found,
// and nothing else.
func TestVerifyRecords(t *testing.T) {
	revisit := "WARC-Type: revisit\nWARC-Target-URI: http://h.example/"
	for _, tc := range []struct {
		name string
		text []string
		want string // "what" or "note what", with its record, in order
	}{
		{"whole", []string{res(1, "\nWARC-Block-Digest: "+helloSum+"\nWARC-Payload-Digest: "+helloSum)}, ""},
		{"digest in base 16", []string{res(1, "\nWARC-Block-Digest: SHA-1:AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D")}, ""},
		{"digest in small letters", []string{res(1, "\nWARC-Block-Digest: "+strings.ToLower(helloSum))}, ""},
		{"Block-Digest", []string{res(1, "\nWARC-Block-Digest: "+emptySum)}, "block-digest 1"},
		{"Payload-Digest of a resource", []string{res(1, "\nWARC-Payload-Digest: "+emptySum)}, "payload-digest 1"},
		{"both, of two algorithms", []string{res(1, "\nWARC-Block-Digest: "+emptySum+"\nWARC-Payload-Digest: sha256:"+strings.Repeat("0", 64))}, "block-digest 1, payload-digest 1"},
		{"Payload-Digest of metadata", []string{rec(1, "WARC-Type: metadata\nWARC-Payload-Digest: "+emptySum, "hello")}, "payload-digest 1"},
		{"Payload-Digest of http", []string{web(1, "\nWARC-Payload-Digest: "+emptySum, plainAnswer)}, "payload-digest 1"},
		{"payload of http", []string{web(1, "\nWARC-Payload-Digest: "+helloSum, plainAnswer)}, ""},
		{"payload of chunks", []string{web(1, "\nWARC-Payload-Digest: sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN", chunkedAnswer)}, ""},
		{"payload with its chunks", []string{web(1, "\nWARC-Payload-Digest: "+SHA1.sum(chunkedAnswer[strings.Index(chunkedAnswer, "\r\n\r\n")+4:]), chunkedAnswer)}, "note payload-digest 1"},
		{"payload of malformed chunks", []string{web(1, "\nWARC-Payload-Digest: "+helloSum, answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "5\r\nhello\r\nxyz\r\n"))}, "note payload-digest 1"},
		{"not chunked, whatever the head says", []string{web(1, "\nWARC-Payload-Digest: "+helloSum, answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "hello"))}, ""},
		{"digest of an algorithm nobody has", []string{res(1, "\nWARC-Block-Digest: crc7:00")}, "note bad-field 1"},
		{"digest of the wrong length", []string{res(1, "\nWARC-Block-Digest: sha1:AAAA")}, "bad-field 1"},
		{"no type", []string{rec(1, "", "hello")}, "missing-field 1"},
		{"unknown type", []string{rec(1, "WARC-Type: x", "hello")}, "note bad-field 1"},
		{"no target", []string{rec(1, "WARC-Type: resource", "hello")}, "missing-field 1"},
		{"no identifier", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Date: 2026-11-21T08:30:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "missing-field "},
		{"no date", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "missing-field 1"},
		{"date of no form", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: yesterday\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "bad-field 1"},
		{"identifier of no form", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: 1\r\nWARC-Date: 2026-11-21T08:30:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "bad-field 1"},
		{"no length", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-11-21T08:30:00Z\r\n\r\n\r\n\r\n", res(2, "")}, "missing-field "},
		{"field twice", []string{res(1, "\nWARC-Type: resource")}, "bad-field 1"},
		{"length too small", []string{res(1, "\nContent-Length: 4"), res(2, "")}, "bad-length 1"},
		{"length too large by the line ends", []string{res(1, "\nContent-Length: 9"), res(2, "")}, "bad-end 1"},
		{"length too large", []string{res(1, "\nContent-Length: 12"), res(2, "")}, "bad-length 1"},
		{"length far too large", []string{res(1, "\nContent-Length: 9223372036854775807"), res(2, "")}, "bad-length 1"},
		{"length below zero", []string{res(1, "\nContent-Length: -1"), res(2, "")}, "missing-field "},
		{"no line ends", []string{strings.TrimSuffix(res(1, ""), "\r\n\r\n"), res(2, "")}, "bad-end 1"},
		{"member without record", []string{res(1, ""), "hello\r\n", res(2, "")}, "garbage "},
		{"identifier twice", []string{res(1, ""), res(2, ""), res(1, "")}, "duplicate-id 1"},
		{"Warcinfo-ID of nobody", []string{res(1, "\nWARC-Warcinfo-ID: <urn:x:9>")}, "dangling 1"},
		{"Concurrent-To nobody", []string{res(1, ""), res(2, "\nWARC-Concurrent-To: <urn:x:1>\nWARC-Concurrent-To: <urn:x:9>")}, "dangling 2"},
		{"Refers-To nobody", []string{rec(1, "WARC-Type: metadata\nWARC-Refers-To: <urn:x:9>", "")}, "dangling 1"},
		{"revisit of what is elsewhere", []string{rec(1, revisit+"\nWARC-Profile: "+ServerNotModified+"\nWARC-Refers-To: <urn:x:9>\nWARC-Refers-To-Target-URI: http://h.example/", "")}, "note dangling 1, note dangling 1"},
		{"revisit without profile", []string{rec(1, revisit, "")}, "missing-field 1"},
		{"revisit without digest", []string{rec(1, revisit+"\nWARC-Profile: "+IdenticalPayload, "")}, "missing-field 1"},
		{"digest of a revisit is another's", []string{rec(1, revisit+"\nWARC-Profile: "+IdenticalPayload+"\nWARC-Payload-Digest: "+helloSum, "HTTP/1.1 200 OK\r\n\r\n")}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := found(t, members(tc.text...)); got != tc.want {
				t.Errorf("packed: found %q, want %q", got, tc.want)
			}
		})
	}
}

func (a Algorithm) sum(s string) string {
	h := a.hash()
	io.WriteString(h, s)
	return a.label(h)
}

// found lists what Verify finds in a file of these bytes.
func found(t *testing.T, file []byte) string {
	t.Helper()
	var v verifier
	defer v.close()
	var list []string
	for _, part := range []iter.Seq2[Finding, error]{v.file("test", bytes.NewReader(file)), v.references()} {
		for f, err := range part {
			if err != nil {
				t.Fatal(err)
			}
			s := f.Problem.String() + " " + strings.TrimPrefix(f.ID, "urn:x:")
			if f.Note {
				s = "note " + s
			}
			list = append(list, s)
		}
	}
	return strings.Join(list, ", ")
}

// TestVerifyBytes: damage to the bytes of a file is found, and the records
// around it are still read.
func TestVerifyBytes(t *testing.T) {
	one, two, three := gzipped(res(1, "")), gzipped(res(2, "\nWARC-Block-Digest: "+helloSum)), gzipped(res(3, ""))
	flip := func(s string, at int) string { return s[:at] + string(s[at]^0x10) + s[at+1:] }
	for _, tc := range []struct {
		name, file, want string
		records          string
		torn             int // offset where to cut; 0: not torn
	}{
		{"whole", one + two + three, "", "1 2 3", 0},
		{"wrong checksum", one + flip(two, len(two)-8) + three, "bad-gzip 2", "1 2 3", 0},
		{"wrong length in a trailer", one + flip(two, len(two)-1) + three, "bad-gzip 2", "1 2 3", 0},
		{"changed text", one + flip(two, len(two)/2) + three, "bad-gzip *", "1 * 3", 0},
		{"changed magic", one + flip(two, 0) + three, "garbage ", "1 3", 0},
		{"changed flags", one + flip(two, 3) + three, "bad-gzip ", "1 3", 0},
		{"lost tail of a member", one + two[:len(two)-20] + three, "bad-gzip ", "1 3", 0},
		{"lost record", one + three, "", "1 3", 0},
		{"torn in a header", one + two[:5], "torn ", "1", len(one)},
		{"torn in text", one + two[:len(two)/2], "torn ", "1", len(one)},
		{"torn in the trailer", one + two[:len(two)-1], "torn 2", "1 2", len(one)},
		{"torn after a byte", one + two[:1], "torn ", "1", len(one)},
		{"zeros behind", one + two + strings.Repeat("\x00", 5000), "torn ", "1 2", len(one + two)},
		{"text behind", one + two + "<html>", "torn ", "1 2", len(one + two)},
		{"another file in front", "GIF89a" + one + two, "garbage ", "", 0},
		{"empty", "", "", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := found(t, []byte(tc.file)); !like(got, tc.want) {
				t.Errorf("found %q, want %q", got, tc.want)
			}
			r := NewReader(strings.NewReader(tc.file))
			ids, torn := "", 0
			for {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				if e, ok := err.(*Error); ok && e.Truncated {
					torn = int(e.Offset)
				}
				if err == nil {
					ids += " " + strings.TrimPrefix(h.ID(), "urn:x:")
				}
			}
			if !like(strings.TrimSpace(ids), tc.records) || torn != tc.torn {
				t.Errorf("read %q, torn at %d; want %q, %d", ids, torn, tc.records, tc.torn)
			}
		})
	}
}

// TestVerifyPlain: the same where nothing is packed, and only lengths tell
// where a record ends.
func TestVerifyPlain(t *testing.T) {
	one, two := res(1, "\nWARC-Block-Digest: "+helloSum), res(2, "\nWARC-Block-Digest: "+helloSum)
	length := func(n string) string { return strings.Replace(one, "Content-Length: 5", "Content-Length: "+n, 1) }
	for _, tc := range []struct{ name, file, want string }{
		{"whole", one + two, ""},
		{"changed block", strings.Replace(one, "hello", "hallo", 1) + two, "block-digest 1"},
		{"changed version", one + "X" + two[1:] + res(3, ""), "garbage "},
		{"text behind", one + two + "<html>\n", "torn "},
		{"zeros behind", one + two + strings.Repeat("\x00", 5000), "torn "},
		{"length too small", length("4") + two, "bad-length 1 block-digest 1"},
		{"length too large", length("12") + two, "bad-length 1 block-digest 1"},
		{"length up to the end", length("9999") + two, "bad-length 1"},
		{"length and line ends lost", strings.TrimSuffix(one, "\r\n\r\n") + two, "bad-end 1"},
		{"no archive", "GIF89a\n", "garbage "},
		{"no archive, no line", "GIF89a", "torn "},
	} {
		if got := strings.ReplaceAll(found(t, []byte(tc.file)), ",", ""); got != tc.want {
			t.Errorf("%s: found %q, want %q", tc.name, got, tc.want)
		}
	}
}

// like compares words; a * stands for one or none.
func like(got, want string) bool {
	w := strings.Fields(want)
	g := strings.Fields(got)
	i := slices.Index(w, "*")
	if i < 0 || len(g) == len(w) {
		return len(g) == len(w) && !slices.ContainsFunc(w, func(s string) bool { return s != "*" && !slices.Contains(g, s) })
	}
	return slices.Equal(g, slices.Delete(slices.Clone(w), i, i+1))
}

// TestVerifyFlips: there is no bit of an archive whose change goes unnoticed
// but where the text stays the same: a gzip header has no checksum, and some
// bits of a member say nothing.
func TestVerifyFlips(t *testing.T) {
	whole, err := os.ReadFile(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	text := unpacked(whole)
	for at := range 450 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		if found(t, damaged) == "" && !bytes.Equal(unpacked(damaged), text) {
			t.Errorf("byte %d changed unnoticed", at)
		}
	}
}

// unpacked is the text of an archive; nil where there is none.
func unpacked(file []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return text
}
