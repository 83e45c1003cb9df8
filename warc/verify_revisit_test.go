package warc

import (
	"os"
	"path/filepath"
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
