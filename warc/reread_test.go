package warc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A countingFile counts the bytes read.
type countingFile struct {
	*bytes.Reader
	n int64
}

func (c *countingFile) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// nestedMembers returns n gzip members, each of which contains all later
// members. It uses stored blocks that end where the lengths of the next block
// start.
func nestedMembers(n int) []byte {
	head := "WARC/1.0\r\nContent-Length: 99999999\r\n\r\n"
	stored := func(size int) []byte {
		b := []byte{0, 0, 0, 0, 0}
		binary.LittleEndian.PutUint16(b[1:], uint16(size))
		binary.LittleEndian.PutUint16(b[3:], ^uint16(size))
		return b
	}
	unit := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, stored(len(head))...)
	unit = append(unit, head...)
	var file []byte
	for range n {
		file = append(append(file, unit...), stored(len(unit))...)
	}
	return file
}

// TestReadLimit verifies that damage cannot make the Reader read a file more
// than a few times.
func TestReadLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("reads megabytes of damage")
	}
	const size = 1 << 20
	fill := func(text string) []byte { return bytes.Repeat([]byte(text), size/len(text)) }
	lying := "WARC/1.0\r\nContent-Length: 99999999\r\n\r\n"
	packed := members(lying + "x")
	for name, file := range map[string][]byte{
		"lengths beyond the end":            fill(lying),
		"lengths up to the end minus one":   remainderRecords(size),
		"headers without an end":            fill("WARC/1.0\r\n"),
		"headers without a length":          fill("WARC/1.0\r\n\r\n"),
		"headers with one long line":        fill("WARC/1.0\r\nWARC/"),
		"line breaks only":                  append([]byte("WARC/1.0\r\n\r\n"), fill("\r\n\r\n")...),
		"compressed lengths beyond the end": bytes.Repeat(packed, size/len(packed)),
		"nested members":                    nestedMembers(size / 60),
		"members in file names of members":  append(packed, fill("\x1f\x8b\x08\x08")...),
		"members in comments of members":    append(packed, fill("\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\x00")...),
		"starts of members":                 append(packed, fill("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00")...),
	} {
		in := &countingFile{Reader: bytes.NewReader(file)}
		r := NewReader(in)
		var err error
		for n := 0; err != io.EOF; n++ {
			if _, err = r.Next(); n > 2*size {
				t.Fatalf("%s: the records do not end", name)
			}
		}
		// Decompressed and searched bytes count as well.
		if limit := int64(2 * (minReread + (rereadFactor+2)*len(file))); in.n > limit || r.src.processed > limit {
			t.Errorf("%s: read %d bytes of a file of %d, processed %d, want at most %d", name, in.n, len(file),
				r.src.processed, limit)
		}
	}
}

// remainderRecords returns records with a Content-Length that extends to the
// end of the file minus one byte.
func remainderRecords(size int) []byte {
	var file []byte
	for len(file) < size {
		head := "WARC/1.0\r\nContent-Length: %08d\r\n\r\n"
		file = fmt.Appendf(file, head, size-len(file)-len(head))
	}
	return file
}

// TestAlternatingDamage verifies that the Reader finds every intact record if
// every second record is damaged.
func TestAlternatingDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("reads thousands of damaged records")
	}
	const records = 600
	intact := func(n int) string {
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: x:%d\r\nContent-Length: 500\r\n\r\n%s\r\n\r\n", n, strings.Repeat("y", 500))
	}
	for name, damage := range map[string]func(n int) []byte{
		"no length": func(n int) []byte {
			return []byte(strings.Replace(intact(n), "Length: 500", "Lenght: 500", 1))
		},
		"compressed, no length": func(n int) []byte {
			return members(strings.Replace(intact(n), "Length: 500", "Lenght: 500", 1))
		},
		"compressed, length too large": func(n int) []byte {
			return members(strings.Replace(intact(n), "Length: 500", "Length: 900", 1))
		},
		"compressed, changed byte": func(n int) []byte { b := members(intact(n)); b[len(b)-5] ^= 1; return b },
	} {
		var file []byte
		for n := range records {
			switch {
			case n%2 == 1:
				file = append(file, damage(n)...)
			case strings.HasPrefix(name, "compressed"):
				file = append(file, members(intact(n))...)
			default:
				file = append(file, intact(n)...)
			}
		}
		r := NewReader(bytes.NewReader(file))
		found := map[string]bool{}
		var h *Header
		var err error
		for err != io.EOF {
			if h, err = r.Next(); err == nil {
				if _, err = r.Finish(); err == nil {
					found[h.Target()] = true
				}
			}
		}
		for n := 0; n < records; n += 2 {
			if !found[fmt.Sprintf("x:%d", n)] {
				t.Errorf("%s: found %d records, but record %d is missing", name, len(found), n)
				break
			}
		}
	}
}
