package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// findings verifies the files and returns the findings as text, without the
// names of folders.
func findings(t *testing.T, paths ...string) string {
	t.Helper()
	var all []string
	for f, err := range Verify(paths...) {
		if err != nil {
			t.Fatal(err)
		}
		f.File = filepath.Base(f.File)
		all = append(all, f.String())
	}
	return strings.Join(all, "\n")
}

// TestVerifyParts checks that a single record that was cut from a larger file
// has only notes, and that a file without records is damaged.
func TestVerifyParts(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	c := at("http://h.example/", 1)
	positions := mustWrite(t, w, c.Response(text(plainAnswer)), c.Request(text("GET / HTTP/1.1\r\n\r\n")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile(filepath.Join(dir.Name(), positions[0].File))
	if err != nil {
		t.Fatal(err)
	}
	part := func(from, to int64) []byte { return all[from:to] }
	var empty bytes.Buffer
	if err := gzip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		data []byte
		want string // substring of each finding, or ""
	}{
		{"complete", all, ""},
		{"one record", part(positions[0].Offset, positions[0].End()), ":0: note: dangling: "},
		{"two records without their warcinfo record", part(positions[0].Offset, positions[1].End()), ": dangling: "},
		{"no records", nil, ":0: torn: the file contains no records"},
		{"no records in gzip", empty.Bytes(), ":0: torn: the file contains no records"},
		{"half a record", part(positions[0].Offset, positions[0].End()-20), ":0: "},
	} {
		name := filepath.Join(t.TempDir(), "a.warc.gz")
		if err := os.WriteFile(name, test.data, 0o666); err != nil {
			t.Fatal(err)
		}
		got := findings(t, name)
		for line := range strings.Lines(got) {
			if test.want == "" || !strings.Contains(line, test.want) {
				t.Errorf("%s: %s", test.name, line)
			}
		}
		if got == "" && test.want != "" {
			t.Errorf("%s: no findings", test.name)
		}
	}
}

// TestWgetMetadata checks that the records of wget with metadata URLs are listed
// and replayed.
func TestWgetMetadata(t *testing.T) {
	var file strings.Builder
	for kind, name := range map[Type]string{Metadata: "MANIFEST.txt", Resource: "wget_arguments.txt"} {
		fmt.Fprintf(&file, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: <metadata://gnu.org/software/wget/warc/%s>\r\n"+
			"WARC-Record-ID: <urn:uuid:%s>\r\nWARC-Date: 2026-11-21T08:30:00Z\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind, name, name, len(name), name)
	}
	path := filepath.Join(t.TempDir(), "w.warc")
	if err := os.WriteFile(path, []byte(file.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	listed := 0
	for e, err := range Entries(strings.NewReader(file.String())) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(e.Name, "metadata://") {
			listed++
		}
	}
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, a.Schemes(fetch.Scheme{Name: "metadata"})...)
	defer client.Close()
	for _, name := range []string{"MANIFEST.txt", "wget_arguments.txt"} {
		resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("metadata://gnu.org/software/wget/warc/" + name)})
		if err != nil {
			t.Error(err)
			continue
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(resp.Body); err != nil || b.String() != name {
			t.Errorf("%s: %q, %v", name, b.String(), err)
		}
		resp.Body.Close()
	}
	if listed != 2 {
		t.Errorf("%d records are listed, want 2", listed)
	}
}
