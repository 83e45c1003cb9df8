package coding_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/coding"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   string
		fault  fetch.Fault
	}{
		{nil, "", 0},
		{[]string{"", "identity, none"}, "", 0},
		{[]string{"x-GZip", " br\t,,deflate"}, "", fetch.Bomb},
		{[]string{"x-GZip", " br\t,"}, "gzip br", 0},
		{[]string{"compress"}, "", fetch.Unsupported},
		{[]string{"gzip, \x1b[31m"}, "", fetch.Unsupported},
	} {
		got, err := coding.Parse(test.values)
		if strings.Join(got, " ") != test.want || test.fault != 0 && fetch.FaultOf(err) != test.fault || test.fault == 0 && err != nil {
			t.Errorf("%q: %q, %v, want %q, %v", test.values, got, err, test.want, test.fault)
		}
	}
	for name := range strings.SplitSeq(coding.Supported, ", ") {
		if got, err := coding.Parse([]string{name}); err != nil || !slices.Equal(got, []string{name}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzReader verifies that decoding any input terminates, returns a classified
// error, and stays within the expansion limit.
func FuzzReader(f *testing.F) {
	f.Add("gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00"))
	f.Add("deflate", []byte("\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\x00\x06\x2c\x02\x15"))
	f.Add("br", []byte("\x0b\x02\x80hello\x03"))
	f.Add("zstd, br", []byte("\x28\xb5\x2f\xfd\x04\x00\x29\x00\x00hello\x8c\x7e\x01\x50"))
	f.Fuzz(func(t *testing.T, codings string, body []byte) {
		list, err := coding.Parse([]string{codings})
		if err != nil || len(body) > 64<<10 {
			return
		}
		r := coding.NewReader(io.NopCloser(bytes.NewReader(body)), list, nil)
		n, err := io.Copy(io.Discard, r)
		if err != nil && fetch.FaultOf(err) == fetch.Internal {
			t.Errorf("%T: %v", err, err)
		}
		if n > 11<<20+100*int64(len(body)) {
			t.Errorf("%d bytes of %d", n, len(body))
		}
		if again, _ := r.Read(make([]byte, 1)); again != 0 {
			t.Error("Read continues after its end")
		}
	})
}
