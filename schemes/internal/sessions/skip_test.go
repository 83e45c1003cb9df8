package sessions

import (
	"io"
	"strings"
	"testing"
)

// rangeReader discards the first three bytes of its text.
type rangeReader struct {
	Skip
	text *strings.Reader
	n    int64 // bytes to discard
}

func (r *rangeReader) Read(p []byte) (int, error) {
	n, err := r.Discard(r.text, r.n)
	if r.n -= n; err != nil {
		return 0, err
	}
	return r.text.Read(p)
}

// TestSkip checks that a Body reports the bytes that its Reader discards.
func TestSkip(t *testing.T) {
	for _, c := range []struct {
		text, want string
		skipped    int64
	}{
		{"abcdef", "def", 3},
		{"abc", "", 3},
		{"ab", "", 2}, // the caller detects that the text is too short
	} {
		b := &Body{Reader: &rangeReader{text: strings.NewReader(c.text), n: 3}, End: func(bool) {}, ended: func() bool { return false }}
		got, err := io.ReadAll(b)
		if string(got) != c.want || err != nil || b.Skipped() != c.skipped {
			t.Errorf("%q: got %q, %v, %d bytes skipped, want %q and %d", c.text, got, err, b.Skipped(), c.want, c.skipped)
		}
	}
	if n := (&Body{Reader: strings.NewReader("x")}).Skipped(); n != 0 {
		t.Errorf("%d bytes skipped by a reader that skips none", n)
	}
}
