package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"os"
	"path/filepath"
	"testing"
)

// TestDigests checks that checkDir finds an object in a file of any name and in
// the digests of a WARC file.
func TestDigests(t *testing.T) {
	one, two := []byte("one"), []byte("two")
	h := digests{sha256.Sum256(one), sha1Of(one), sha256.Sum256(two), sha1Of(two)}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("any name", one)
	if err := h.checkDir(dir); err == nil {
		t.Error("no error for a missing object")
	}
	sum := sha1.Sum(two)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("WARC/1.0\r\nWARC-Payload-Digest: sha1:" + base32.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"))
	z.Close()
	write("w.warc.gz", packed.Bytes())
	if err := h.checkDir(dir); err != nil {
		t.Error(err)
	}
	write("w.warc.gz", packed.Bytes()[:packed.Len()/2])
	if err := h.checkDir(dir); err == nil {
		t.Error("no error for a truncated WARC file")
	}
}
