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

// TestHolding: an object counts where a file has its bytes, whatever its name,
// or a WARC file says so, and only there.
func TestHolding(t *testing.T) {
	one, two := []byte("one"), []byte("two")
	h := holding{sha256.Sum256(one), sha1Of(one), sha256.Sum256(two), sha1Of(two)}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("any name", one)
	if err := h.in(dir); err == nil {
		t.Error("the second object is not there")
	}
	sum := sha1.Sum(two)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("WARC/1.0\r\nWARC-Payload-Digest: sha1:" + base32.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"))
	z.Close()
	write("w.warc.gz", packed.Bytes())
	if err := h.in(dir); err != nil {
		t.Error(err)
	}
	write("w.warc.gz", packed.Bytes()[:packed.Len()/2])
	if err := h.in(dir); err == nil {
		t.Error("a WARC file that is cut off")
	}
}
