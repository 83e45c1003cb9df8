package warc

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSalvage damages one record at a time. The copy must be a valid file with
// all other records.
func TestSalvage(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	records := headers(t, whole)
	if len(records) < 20 {
		t.Fatalf("%d records", len(records))
	}
	const name = "new.warc.gz"
	path := filepath.Join(t.TempDir(), name)
	for i, r := range records {
		damaged := bytes.Clone(whole)
		damaged[r.Offset+20] ^= 0x10
		var out bytes.Buffer
		moved, err := Salvage(&out, bytes.NewReader(damaged), int64(len(damaged)), name)
		if err == nil {
			err = os.WriteFile(path, out.Bytes(), 0o666)
		}
		if err != nil || len(moved) != len(records)-1 {
			t.Errorf("record %d: %d records copied, want %d: %v", i, len(moved), len(records)-1, err)
			continue
		}
		for f, err := range Verify(path) {
			if err != nil || !f.Note {
				t.Errorf("record %d: %v, %v", i, f, err)
			}
		}
		copies := headers(t, out.Bytes())
		want := len(records) - 1
		if i == 0 {
			want++ // a new warcinfo record
		}
		if first := copies[0]; len(copies) != want || first.Type() != Info || first.Get("WARC-Filename") != name ||
			first.ID() != records[0].ID() {
			t.Errorf("record %d: %d records in the copy, want %d, the first one %+v", i, len(copies), want, first)
		}
		for _, m := range moved {
			got, err := NewReaderAt(bytes.NewReader(out.Bytes()), m.To).Next()
			old, oldErr := NewReaderAt(bytes.NewReader(whole), m.From).Next()
			if err != nil || oldErr != nil || got.ID() != old.ID() {
				t.Errorf("record %d: %+v: %v, %v", i, m, err, oldErr)
			}
		}
	}
}

// headers returns the headers of the records in a file.
func headers(t *testing.T, file []byte) (all []*Header) {
	t.Helper()
	for in := NewReader(bytes.NewReader(file)); ; {
		h, err := in.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
}

// TestSalvageNothing checks files without an intact record.
func TestSalvageNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "junk", "\x1f\x8b", strings.Repeat("\x00", 1000)} {
		var out bytes.Buffer
		moved, err := Salvage(&out, strings.NewReader(text), int64(len(text)), "x")
		if len(moved) != 0 || out.Len() != 0 || err != nil {
			t.Errorf("%q: %v, %d bytes, %v", text, moved, out.Len(), err)
		}
	}
}
