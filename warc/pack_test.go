package warc

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
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
		Home: Page{URL: "gopher://h.example/1/", Date: day}}); err != nil {
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
	if err := Index(&index, path); err != nil || !bytes.Equal(parts["indexes/index.cdx"], index.Bytes()) {
		t.Errorf("got index %s", parts["indexes/index.cdx"])
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
