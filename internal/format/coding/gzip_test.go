package coding_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/coding"
)

// TestGzipHeader accepts header fields of any length.
func TestGzipHeader(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	extra := func(n int) string {
		return string(binary.LittleEndian.AppendUint16(nil, uint16(n))) + strings.Repeat("e", n)
	}
	for _, c := range []struct {
		name   string
		flags  byte
		fields string
		fault  fetch.Fault
	}{
		{"none", 0, "", 0},
		{"name of 511 bytes", 8, long[:511] + "\x00", 0},
		{"name of 512 bytes", 8, long[:512] + "\x00", 0},
		{"name of a megabyte", 8, long + "\x00", 0},
		{"comment of a megabyte", 16, long + "\x00", 0},
		{"empty name and comment", 8 | 16, "\x00\x00", 0},
		{"extra field", 4, extra(65535), 0},
		{"empty extra field", 4, extra(0), 0},
		{"all", 1 | 4 | 8 | 16, extra(1000) + long + "\x00" + long + "\x00", 0},
		{"all, with a checksum", 2 | 4 | 8 | 16, extra(1000) + long + "\x00" + long + "\x00", 0},
		{"wrong checksum", 2 | 8, "name\x00\x00\x00", fetch.Protocol},
		{"name without an end", 8, "", fetch.Truncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write([]byte("hello"))
			z.Close()
			head, body := bytes.Clone(packed.Bytes()[:10]), packed.Bytes()[10:]
			head[3] = c.flags
			head = append(head, c.fields...)
			switch {
			case c.fault == fetch.Truncated:
				body = []byte(long)
			case c.flags&2 != 0 && c.fault == 0:
				head = binary.LittleEndian.AppendUint16(head, uint16(crc32.ChecksumIEEE(head)))
			}
			member := append(head, body...)
			both := append(bytes.Clone(member), member...)
			if c.fault != 0 {
				both = member
			}
			got, err := io.ReadAll(coding.NewReader(io.NopCloser(bytes.NewReader(both)), []string{"gzip"}, nil))
			if c.fault != 0 {
				if fetch.FaultOf(err) != c.fault {
					t.Errorf("got %q, %v", got, err)
				}
			} else if string(got) != "hellohello" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestGzipHeaderMemory verifies that an endless header needs little memory and
// is rejected.
func TestGzipHeaderMemory(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00"), io.LimitReader(xs{}, 64<<20))
	r := coding.NewReader(io.NopCloser(endless), []string{"gzip"}, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := r.Read(make([]byte, 1)); fetch.FaultOf(err) != fetch.TooLarge {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes of memory", grown)
	}
}

type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
