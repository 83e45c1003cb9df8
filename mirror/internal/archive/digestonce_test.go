package archive

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestDigestingFile(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 1000)
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		steps []int64 // bytes to read, or if negative, the position to which to seek
	}{
		{"nothing is read", nil},
		{"everything is read", []int64{10_000}},
		{"the end is not read", []int64{5000}},
		{"read again", []int64{5000, -1000, 2000, 6000}},
		{"seek forward", []int64{1000, -5000, 1000}},
		{"back and past", []int64{1000, -500, 1000, 8000}},
	} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := newDigestingFile(f)
		for _, n := range test.steps {
			if n < 0 {
				_, err = d.Seek(-n, io.SeekStart)
			} else {
				_, err = io.CopyN(io.Discard, d, n)
			}
			if err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		if got, err := d.digest(); got != sha256.Sum256(content) || err != nil {
			t.Errorf("%s: %x, %v", test.name, got, err)
		}
	}
}
