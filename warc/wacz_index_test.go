package warc

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestIndexBlocks verifies that the blocks of an index with long lines are short,
// because Pack keeps a block in memory.
func TestIndexBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a large index")
	}
	const count = 40
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	for i := range count {
		url := "gopher://h.example/0/" + strings.Repeat(string(rune('A'+i%26)), 100_000+i)
		mustWrite(t, w, at(url, 1).Resource("text/plain", strings.NewReader("x")))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var b bytes.Buffer
	if err := a.Pack(&b, Package{}); err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(partOf(t, b.Bytes(), "indexes/index.idx"))), "\n")[1:]
	text, lines := partOf(t, b.Bytes(), "indexes/index.cdx.gz"), 0
	for _, l := range blocks {
		var at blockJSON
		if err := json.Unmarshal([]byte(l[strings.Index(l, "{"):]), &at); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(text[at.Offset : at.Offset+at.Length]))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil || len(got) > maxIndexBlock+1<<20 || !bytes.HasPrefix(got, []byte(l[:strings.Index(l, " {")])) {
			t.Errorf("a block has %d bytes, %v", len(got), err)
		}
		lines += bytes.Count(got, []byte("\n"))
	}
	if lines != count || len(blocks) < 4 {
		t.Errorf("%d lines in %d blocks", lines, len(blocks))
	}
}

// TestDamagedPositions verifies that the list of damaged positions in a forged
// file is limited.
func TestDamagedPositions(t *testing.T) {
	if testing.Short() {
		t.Skip("reads thousands of damaged records")
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // a large record, after which a reader searches further
	io.WriteString(z, rec(1, "WARC-Type: resource\nWARC-Target-URI: ftp://h.example/a", strings.Repeat("x", 16<<20)))
	z.Close()
	b.WriteString(strings.Repeat(gzipped("WARC/1.1\r\n\r\n"), maxDamaged+1000))
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if len(a.Damaged) != maxDamaged {
		t.Errorf("%d damaged positions", len(a.Damaged))
	}
	if many, ok := Index(io.Discard, path).(interface{ Unwrap() []error }); !ok || len(many.Unwrap()) > maxDamaged {
		t.Errorf("got %T", many)
	}
}
