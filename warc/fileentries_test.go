package warc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestFileEntries lists the same captures from a WARC file and from a WACZ file
// that contains the WARC file. It also opens files of other formats.
func TestFileEntries(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.wacz")
	if err := os.WriteFile(text, []byte("no zip"), 0o666); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(dir, "sample.wacz")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := openSample(t).Pack(f, Package{}); err != nil {
		t.Fatal(err)
	}
	names := func(path string) (all []string) {
		for e, err := range FileEntries(path) {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			all = append(all, e.Name)
		}
		return all
	}
	if got, want := names(packed), names(sample(t, testOptions())); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for range FileEntries(packed) {
		break // the iterator must not continue
	}
	for path, want := range map[string]fetch.Fault{text: fetch.Mismatch, text + "/none.warc": fetch.Local,
		filepath.Join(dir, "none.wacz"): fetch.Local} {
		count := 0
		for _, err := range FileEntries(path) {
			if count++; !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", path, err, want)
			}
		}
		if count != 1 {
			t.Errorf("%s: %d entries, want an error", path, count)
		}
	}
}
