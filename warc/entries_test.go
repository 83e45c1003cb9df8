package warc

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestEntries(t *testing.T) {
	f, err := os.Open(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for e, err := range Entries(f) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %s %d %s %s %q\n", e.Time.Format("15:04:05"), e.Kind, e.URL, e.Size, e.Extra["type"],
			e.Extra["status"], e.Media)
	}
	golden(t, "testdata/sample.entries", []byte(b.String()))
}

func TestIsFileName(t *testing.T) {
	for name, want := range map[string]bool{"a.warc": true, "a.warc.gz": true, "a.warc.gz.open": true, "warc.gz": false,
		"a.gz": false, "a.cdxj": false, "a.warc.zst": true, "a.warc.zst.open": true, "a.zst": false, "a.arc": true, "a.arc.gz": true,
		"a.arc.gz.open": false, "a.arc.zst": false} {
		if IsFileName(name) != want {
			t.Errorf("IsFileName(%q) = %v", name, !want)
		}
	}
}
