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

// TestVerifyComplete verifies that the files of a Writer have no findings, with
// and without compression and with both digest algorithms.
func TestVerifyComplete(t *testing.T) {
	for _, opts := range []Options{{}, {Uncompressed: true}, {Digest: SHA256}} {
		base := testOptions()
		base.Uncompressed, base.Digest = opts.Uncompressed, opts.Digest
		for f, err := range Verify(sample(t, base)) {
			t.Error(f, err)
		}
	}
}

// members returns a gzip member for each text.
func members(texts ...string) []byte {
	var b bytes.Buffer
	for _, s := range texts {
		b.WriteString(gzipped(s))
	}
	return b.Bytes()
}

// rec returns a record with the mandatory header fields and the given ones,
// which are separated by line breaks.
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
	helloSum = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N" // digest of "hello"
	emptySum = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
)

func res(id int, more string) string {
	return rec(id, "WARC-Type: resource\nWARC-Target-URI: file:///"+fmt.Sprint(id)+more, "hello")
}

func web(id int, more, block string) string {
	return rec(id, "WARC-Type: response\nWARC-Target-URI: http://h.example/\nContent-Type: application/http;msgtype=response"+more, block)
}

// TestVerifyRecords verifies the findings for records with invalid headers or
// digests.
func TestVerifyRecords(t *testing.T) {
	revisit := "WARC-Type: revisit\nWARC-Target-URI: http://h.example/"
	for _, tc := range []struct {
		name string
		text []string
		want string // problems in order, each with its record, with "note" before a note
	}{
		{"intact", []string{res(1, "\nWARC-Block-Digest: "+helloSum+"\nWARC-Payload-Digest: "+helloSum)}, ""},
		{"digest in base16", []string{res(1, "\nWARC-Block-Digest: SHA-1:AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D")}, ""},
		{"digest in lower case", []string{res(1, "\nWARC-Block-Digest: "+strings.ToLower(helloSum))}, ""},
		{"wrong block digest", []string{res(1, "\nWARC-Block-Digest: "+emptySum)}, "block-digest 1"},
		{"wrong payload digest of a resource", []string{res(1, "\nWARC-Payload-Digest: "+emptySum)}, "payload-digest 1"},
		{"both digests wrong, different algorithms",
			[]string{res(1, "\nWARC-Block-Digest: "+emptySum+"\nWARC-Payload-Digest: sha256:"+strings.Repeat("0", 64))},
			"block-digest 1, payload-digest 1"},
		{"wrong payload digest of metadata",
			[]string{rec(1, "WARC-Type: metadata\nWARC-Payload-Digest: "+emptySum, "hello")}, "payload-digest 1"},
		{"wrong payload digest of an HTTP response", []string{web(1, "\nWARC-Payload-Digest: "+emptySum, plainAnswer)},
			"payload-digest 1"},
		{"payload digest of an HTTP response", []string{web(1, "\nWARC-Payload-Digest: "+helloSum, plainAnswer)}, ""},
		{"payload digest of a chunked response",
			[]string{web(1, "\nWARC-Payload-Digest: sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN", chunkedAnswer)}, ""},
		{"payload digest over the chunked coding",
			[]string{web(1, "\nWARC-Payload-Digest: "+SHA1.sum(chunkedAnswer[strings.Index(chunkedAnswer, "\r\n\r\n")+4:]),
				chunkedAnswer)}, "note payload-digest 1"},
		{"malformed chunks", []string{web(1, "\nWARC-Payload-Digest: "+helloSum,
			answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "5\r\nhello\r\nxyz\r\n"))}, "note payload-digest 1"},
		{"body not chunked despite Transfer-Encoding",
			[]string{web(1, "\nWARC-Payload-Digest: "+helloSum,
				answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "hello"))}, ""},
		{"unknown digest algorithm", []string{res(1, "\nWARC-Block-Digest: crc7:00")}, "note bad-field 1"},
		{"digest of the wrong length", []string{res(1, "\nWARC-Block-Digest: sha1:AAAA")}, "bad-field 1"},
		{"no type", []string{rec(1, "", "hello")}, "missing-field 1"},
		{"unknown type", []string{rec(1, "WARC-Type: x", "hello")}, "note bad-field 1"},
		{"no target", []string{rec(1, "WARC-Type: resource", "hello")}, "missing-field 1"},
		{"no record ID", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Date: 2026-11-21T08:30:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "missing-field "},
		{"no date", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "missing-field 1"},
		{"invalid date", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: yesterday\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "bad-field 1"},
		{"invalid record ID", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: 1\r\nWARC-Date: 2026-11-21T08:30:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n"}, "bad-field 1"},
		{"no length", []string{"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-11-21T08:30:00Z\r\n\r\n\r\n\r\n", res(2, "")}, "missing-field "},
		{"duplicate field", []string{res(1, "\nWARC-Type: resource")}, "bad-field 1"},
		{"length too small", []string{res(1, "\nContent-Length: 4"), res(2, "")}, "bad-length 1"},
		{"length includes the line breaks", []string{res(1, "\nContent-Length: 9"), res(2, "")}, "bad-end 1"},
		{"length too large", []string{res(1, "\nContent-Length: 12"), res(2, "")}, "bad-length 1"},
		{"length far too large", []string{res(1, "\nContent-Length: 9223372036854775807"), res(2, "")}, "bad-length 1"},
		{"negative length", []string{res(1, "\nContent-Length: -1"), res(2, "")}, "missing-field "},
		{"no line breaks after the block", []string{strings.TrimSuffix(res(1, ""), "\r\n\r\n"), res(2, "")}, "bad-end 1"},
		{"member without record", []string{res(1, ""), "hello\r\n", res(2, "")}, "garbage "},
		{"duplicate record ID", []string{res(1, ""), res(2, ""), res(1, "")}, "duplicate-id 1"},
		{"WARC-Warcinfo-ID without a record", []string{res(1, "\nWARC-Warcinfo-ID: <urn:x:9>"), res(2, "")}, "dangling 1"},
		{"single record without its warcinfo record", []string{res(1, "\nWARC-Warcinfo-ID: <urn:x:9>")}, "note dangling 1"},
		{"WARC-Concurrent-To without a record",
			[]string{res(1, ""), res(2, "\nWARC-Concurrent-To: <urn:x:1>\nWARC-Concurrent-To: <urn:x:9>")}, "dangling 2"},
		{"WARC-Refers-To without a record", []string{rec(1, "WARC-Type: metadata\nWARC-Refers-To: <urn:x:9>", ""), res(2, "")},
			"dangling 1"},
		{"revisit of a record in another archive",
			[]string{rec(1, revisit+"\nWARC-Profile: "+ServerNotModified+"\nWARC-Refers-To: <urn:x:9>\nWARC-Refers-To-Target-URI: http://h.example/", "")}, "note dangling 1, note dangling 1"},
		{"revisit of wget", []string{rec(1, revisit+"\nWARC-Profile: "+ServerNotModified+"\nWARC-Block-Digest: "+emptySum, "HTTP/1.1 200 OK\r\n\r\n")},
			"note block-digest 1"},
		{"revisit with a wrong block digest", []string{rec(1, revisit+"\nWARC-Profile: "+ServerNotModified+"\nWARC-Block-Digest: "+helloSum, "")},
			"block-digest 1"},
		{"record with the digest of an empty block", []string{res(1, "\nWARC-Block-Digest: "+emptySum)}, "block-digest 1"},
		{"revisit without profile", []string{rec(1, revisit, "")}, "missing-field 1"},
		{"revisit without digest", []string{rec(1, revisit+"\nWARC-Profile: "+IdenticalPayload, "")}, "missing-field 1"},
		{"payload digest of a revisit",
			[]string{rec(1, revisit+"\nWARC-Profile: "+IdenticalPayload+"\nWARC-Payload-Digest: "+helloSum,
				"HTTP/1.1 200 OK\r\n\r\n")}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := findingsOf(t, members(tc.text...)); got != tc.want {
				t.Errorf("compressed: got %q, want %q", got, tc.want)
			}
		})
	}
}

func (a Algorithm) sum(s string) string {
	h := a.hash()
	io.WriteString(h, s)
	return a.label(h)
}

// findingsOf returns the findings of Verify for a file.
func findingsOf(t *testing.T, file []byte) string {
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

// TestVerifyBytes verifies the findings for a damaged compressed file, and that
// the Reader still finds the other records.
func TestVerifyBytes(t *testing.T) {
	one, two, three := gzipped(res(1, "")), gzipped(res(2, "\nWARC-Block-Digest: "+helloSum)), gzipped(res(3, ""))
	flip := func(s string, at int) string { return s[:at] + string(s[at]^0x10) + s[at+1:] }
	for _, tc := range []struct {
		name, file, want string
		records          string
		truncated        int // offset after the last complete record; 0 if the file is not truncated
	}{
		{"intact", one + two + three, "", "1 2 3", 0},
		{"wrong checksum", one + flip(two, len(two)-8) + three, "bad-gzip 2", "1 2 3", 0},
		{"wrong length in the gzip trailer", one + flip(two, len(two)-1) + three, "bad-gzip 2", "1 2 3", 0},
		{"changed text", one + flip(two, len(two)/2) + three, "bad-gzip *", "1 * 3", 0},
		{"changed gzip magic", one + flip(two, 0) + three, "garbage ", "1 3", 0},
		{"changed gzip flags", one + flip(two, 3) + three, "bad-gzip ", "1 3", 0},
		{"missing end of a member", one + two[:len(two)-20] + three, "bad-gzip ", "1 3", 0},
		{"missing record", one + three, "", "1 3", 0},
		{"truncated in the gzip header", one + two[:5], "torn ", "1", len(one)},
		{"truncated in the text", one + two[:len(two)/2], "torn ", "1", len(one)},
		{"truncated in the gzip trailer", one + two[:len(two)-1], "torn 2", "1 2", len(one)},
		{"truncated after one byte", one + two[:1], "torn ", "1", len(one)},
		{"trailing zeros", one + two + strings.Repeat("\x00", 5000), "torn ", "1 2", len(one + two)},
		{"trailing text", one + two + "<html>", "torn ", "1 2", len(one + two)},
		{"leading bytes of another file", "GIF89a" + one + two, "garbage ", "", 0},
		{"empty", "", "torn ", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := findingsOf(t, []byte(tc.file)); !matchWords(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			r := NewReader(strings.NewReader(tc.file))
			ids, truncated := "", 0
			for {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				if e, ok := err.(*Error); ok && e.Truncated {
					truncated = int(e.Offset)
				}
				if err == nil {
					ids += " " + strings.TrimPrefix(h.ID(), "urn:x:")
				}
			}
			if !matchWords(strings.TrimSpace(ids), tc.records) || truncated != tc.truncated {
				t.Errorf("got records %q, truncated at %d, want %q, %d", ids, truncated, tc.records, tc.truncated)
			}
		})
	}
}

// TestVerifyUncompressed verifies the findings for damaged uncompressed files,
// where only lengths separate the records.
func TestVerifyUncompressed(t *testing.T) {
	one, two := res(1, "\nWARC-Block-Digest: "+helloSum), res(2, "\nWARC-Block-Digest: "+helloSum)
	length := func(n string) string { return strings.Replace(one, "Content-Length: 5", "Content-Length: "+n, 1) }
	for _, tc := range []struct{ name, file, want string }{
		{"intact", one + two, ""},
		{"changed block", strings.Replace(one, "hello", "hallo", 1) + two, "block-digest 1"},
		{"changed version", one + "X" + two[1:] + res(3, ""), "garbage "},
		{"trailing text", one + two + "<html>\n", "torn "},
		{"trailing zeros", one + two + strings.Repeat("\x00", 5000), "torn "},
		{"length too small", length("4") + two, "bad-length 1 block-digest 1"},
		{"length too large", length("12") + two, "bad-length 1 block-digest 1"},
		{"length beyond the end", length("9999") + two, "bad-length 1"},
		{"missing line breaks", strings.TrimSuffix(one, "\r\n\r\n") + two, "bad-end 1"},
		{"other file", "GIF89a\n", "garbage "},
		{"other file without a line break", "GIF89a", "torn "},
	} {
		if got := strings.ReplaceAll(findingsOf(t, []byte(tc.file)), ",", ""); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// matchWords compares two texts word by word. The word "*" in want matches at
// most one word.
func matchWords(got, want string) bool {
	w := strings.Fields(want)
	g := strings.Fields(got)
	i := slices.Index(w, "*")
	if i < 0 || len(g) == len(w) {
		return len(g) == len(w) && !slices.ContainsFunc(w, func(s string) bool { return s != "*" && !slices.Contains(g, s) })
	}
	return slices.Equal(g, slices.Delete(slices.Clone(w), i, i+1))
}

// TestVerifyFlips flips one bit in each of the first 450 bytes of a compressed
// file. Every flip that changes the text must have a finding. Some bits of a
// gzip header do not change the text.
func TestVerifyFlips(t *testing.T) {
	file, err := os.ReadFile(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	text := decompress(file)
	stride := 1
	if testing.Short() {
		stride = 7
	}
	for at := 0; at < 450; at += stride {
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		if findingsOf(t, damaged) == "" && !bytes.Equal(decompress(damaged), text) {
			t.Errorf("no finding for a changed bit in byte %d", at)
		}
	}
}

// decompress returns the text of an archive, or nil if it is invalid.
func decompress(file []byte) []byte {
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
