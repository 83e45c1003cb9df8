package warc

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

func TestPack(t *testing.T) {
	opts := testOptions()
	opts.Uncompressed = true // the golden files must not depend on the compressor
	path := sample(t, opts)
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var b bytes.Buffer
	if err := a.Pack(&b, Package{Title: "A <title>", Created: day,
		main: packedPage{URL: "gopher://h.example/1/", Date: day}}); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if parts[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Name, "archive/") != (f.Method == zip.Store) {
			t.Errorf("part %s has compression method %d", f.Name, f.Method)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(parts["archive/"+filepath.Base(path)], whole) {
		t.Error("the WARC file in the WACZ file differs")
	}
	var index bytes.Buffer
	if err := Index(&index, path); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for line := range strings.Lines(index.String()) {
		if !strings.Contains(line, "-conversation") && !strings.Contains(line, `"status":"304"`) {
			want.WriteString(line)
		}
	}
	if got := string(parts["indexes/index.cdx"]); got != want.String() || want.Len() == index.Len() {
		t.Errorf("got index %s", got)
	}
	golden(t, "testdata/pages.jsonl", parts["pages/pages.jsonl"])
	golden(t, "testdata/datapackage.json", parts["datapackage.json"])
	var d packageJSON
	if err := json.Unmarshal(parts["datapackage.json"], &d); err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Resources {
		if sum := sha256.Sum256(parts[r.Path]); r.Hash != "sha256:"+hex.EncodeToString(sum[:]) ||
			r.Bytes != int64(len(parts[r.Path])) {
			t.Errorf("%s is described as %+v", r.Path, r)
		}
		delete(parts, r.Path)
	}
	sum := sha256.Sum256(parts["datapackage.json"])
	if want := `{"hash":"sha256:` + hex.EncodeToString(sum[:]) +
		`","path":"datapackage.json"}`; compact(parts["datapackage-digest.json"]) != want {
		t.Errorf("got digest %s, want %s", parts["datapackage-digest.json"], want)
	}
	if len(parts) != 2 {
		t.Errorf("parts not listed in datapackage.json: %d", len(parts)-2)
	}
}

// TestPackLargeIndex checks each block of a compressed index against its line in
// index.idx, and replays captures through the index.
func TestPackLargeIndex(t *testing.T) {
	a, path, urls := packLarge(t)
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	parts := map[string]string{}
	for _, part := range z.File {
		in, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil || strings.HasSuffix(part.Name, ".gz") && part.Method != zip.Store {
			t.Error(part.Name, part.Method, err)
		}
		parts[part.Name] = string(text)
	}
	blocks := strings.Split(strings.TrimSuffix(parts["indexes/index.idx"], "\n"), "\n")
	if len(blocks) != 4 || blocks[0] != `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` {
		t.Fatalf("got list of blocks %q", blocks)
	}
	var index strings.Builder
	for _, line := range blocks[1:] {
		prefix, object, _ := strings.Cut(line, " {")
		var place blockJSON
		if err := json.Unmarshal([]byte("{"+object), &place); err != nil {
			t.Fatal(err)
		}
		member := parts["indexes/index.cdx.gz"][place.Offset:][:place.Length]
		sum := sha256.Sum256([]byte(member))
		in, err := gzip.NewReader(strings.NewReader(member))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if !strings.HasPrefix(string(text), prefix+" {") || err != nil ||
			place.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("block of %d bytes does not match the line %s: %v", len(text), line, err)
		}
		index.Write(text)
	}
	var want bytes.Buffer
	if _, err := io.Copy(&want, io.NewSectionReader(a.index, 0, a.size)); err != nil || index.String() != want.String() {
		t.Errorf("the blocks differ from the index: %v", err)
	}
	packed, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	for _, i := range []int{0, indexBlockLines - 1, indexBlockLines, len(urls) - 1} {
		if got, err := replayText(t, packed, urls[i]); got != strconv.Itoa(i) || err != nil {
			t.Errorf("capture %d: got %q, %v", i, got, err)
		}
	}
	for found, err := range Verify(path) {
		t.Error(found, err)
	}
}

// packLarge writes a WACZ file with a compressed index of three blocks. The
// capture of the URL with the index i has the text i.
func packLarge(t *testing.T) (a *Archive, path string, urls []string) {
	t.Helper()
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	const n = 2*indexBlockLines + 2
	for i := range n {
		scheme := []string{"http", "ftp", "gopher", "news"}[i*4/n]
		urls = append(urls, fmt.Sprintf("%s://h.example/%04d@%s", scheme, i, strings.Repeat("x", 600)))
		mustWrite(t, w, at(urls[i], i).Resource("text/plain", strings.NewReader(strconv.Itoa(i))))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, path = pack(t, dir.Name())
	return a, path, urls
}

// pack writes the WACZ file of an archive.
func pack(t *testing.T, dir string) (a *Archive, path string) {
	t.Helper()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	path = filepath.Join(t.TempDir(), "x.wacz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Pack(f, Package{}), f.Close()); err != nil {
		t.Fatal(err)
	}
	return a, path
}

func compact(text []byte) string {
	var b bytes.Buffer
	json.Compact(&b, text)
	return b.String()
}

func TestPackOpen(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	mustWrite(t, w, resource("file:///a"))
	a, err := Open(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Pack(io.Discard, Package{}); !errors.Is(err, fetch.InUse) {
		t.Errorf("got error %v", err)
	}
}
