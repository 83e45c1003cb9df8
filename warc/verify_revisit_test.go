package warc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyRevisit compares the payload digests of a revisit and its original
// record.
func TestVerifyRevisit(t *testing.T) {
	const revisit = "WARC-Type: revisit\nWARC-Target-URI: http://h.example/\nWARC-Profile: " + IdenticalPayload
	const byID, byURL = "\nWARC-Refers-To: <urn:x:1>", "\nWARC-Refers-To-Target-URI: file:///1\nWARC-Refers-To-Date: 2026-11-21T08:30:00Z"
	for name, c := range map[string]struct {
		fields string
		want   int
	}{
		"same digest, reference by ID":       {byID + "\nWARC-Payload-Digest: " + helloSum, 0},
		"different digest, reference by ID":  {byID + "\nWARC-Payload-Digest: " + emptySum, 1},
		"same digest, reference by URL":      {byURL + "\nWARC-Payload-Digest: " + helloSum, 0},
		"different digest, reference by URL": {byURL + "\nWARC-Payload-Digest: " + emptySum, 1},
		"different algorithm": {byID +
			"\nWARC-Payload-Digest: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 0},
	} {
		path := filepath.Join(t.TempDir(), "a.warc")
		text := res(1, "\nWARC-Payload-Digest: "+helloSum) + rec(2, revisit+c.fields, "")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		n := 0
		for f, err := range Verify(path) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; f.Problem != BadPayloadDigest || f.Note || f.ID != "urn:x:2" {
				t.Errorf("%s: %v", name, f)
			}
		}
		if n != c.want {
			t.Errorf("%s: %d findings, want %d", name, n, c.want)
		}
	}
}

// TestVerifySameSecond verifies revisit records whose original can be in another
// archive, while the file has a capture of the URL in the same second.
func TestVerifySameSecond(t *testing.T) {
	const revisit = "WARC-Type: revisit\nWARC-Target-URI: http://h.example/\nWARC-Profile: " + IdenticalPayload +
		"\nWARC-Refers-To-Target-URI: file:///1\nWARC-Refers-To-Date: 2026-11-21T08:30:00"
	for _, test := range []struct {
		name, date, fields string
		want               Problem
		note               bool
	}{
		{"same date", "Z", "Z", BadPayloadDigest, false},
		{"same date in another form", "Z", ".000Z", BadPayloadDigest, false},
		{"same fraction", ".25Z", ".25Z", BadPayloadDigest, false},
		{"date of an index", ".25Z", "Z", DanglingReference, true},
		{"original has no fraction", "Z", ".25Z", DanglingReference, true},
		{"other fraction", ".25Z", ".5Z", DanglingReference, true},
		{"record of another file", "Z", "Z\nWARC-Refers-To: <urn:x:9>", DanglingReference, true},
		{"record of this file", ".25Z", "Z\nWARC-Refers-To: <urn:x:1>", BadPayloadDigest, false},
	} {
		path := filepath.Join(t.TempDir(), "a.warc")
		original := strings.Replace(res(1, "\nWARC-Payload-Digest: "+helloSum), "08:30:00Z", "08:30:00"+test.date, 1)
		text := original + rec(2, revisit+test.fields+"\nWARC-Payload-Digest: "+emptySum, "")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		n := 0
		for f, err := range Verify(path) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; f.Problem != test.want || f.Note != test.note || f.ID != "urn:x:2" {
				t.Errorf("%s: %v", test.name, f)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d findings, want 1", test.name, n)
		}
	}
}
