package archive

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestHeaderStart verifies that the start of a compressed record is enough to
// check a header of usual length, and that a longer header is checked with the
// complete record.
func TestHeaderStart(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name   string
		digits int // in the URL
		body   int // bytes
		start  bool
	}{
		{"small record", 20, 100, true},
		{"body longer than the start", 20, 100_000, true},
		{"header longer than the start", 4000, 100, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			url := "http://a.example/"
			for len(url) < test.digits {
				url += strconv.FormatUint(random.Uint64(), 36)
			}
			body := make([]byte, test.body)
			for i := range body {
				body[i] = byte(' ' + random.IntN(64))
			}
			v, c := writeRecord(t, url, body)
			if got := v.describes(c, min(len(v.bytes), headerStart)); got != test.start {
				t.Errorf("with %d of %d bytes: %v, want %v", headerStart, len(v.bytes), got, test.start)
			}
			if !v.describes(c, len(v.bytes)) {
				t.Error("the complete record does not describe the capture")
			}
			c.URL += "/other"
			if v.describes(c, min(len(v.bytes), headerStart)) || v.describes(c, len(v.bytes)) {
				t.Error("the record describes the capture of another URL")
			}
		})
	}
}

// writeRecord writes a resource record and returns a verifier with its bytes,
// and its capture.
func writeRecord(t *testing.T, url string, body []byte) (*recordVerifier, *frontier.Capture) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "test.warc.gz"})
	if err != nil {
		t.Fatal(err)
	}
	source := warc.Capture{URL: uri.MustParse(url), Date: time.Unix(0, 0)}
	places, err := w.Write(source.Resource("text/plain", bytes.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := root.ReadFile("test.warc.gz")
	if err != nil {
		t.Fatal(err)
	}
	p := places[0]
	v := &recordVerifier{bytes: file[p.Offset : p.Offset+p.Length]}
	return v, &frontier.Capture{ID: p.ID, URL: url, Proof: p.PayloadDigest}
}
