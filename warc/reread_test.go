package warc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
)

// counting counts the bytes that are read.
type counting struct {
	*bytes.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// overlapping makes n gzip members each of which contains all that follow: in
// stored blocks, whose lengths end where the next ones begin.
func overlapping(n int) []byte {
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

// TestReadAgain: damage costs no more than some passes over a file, whatever
// its records say, by bytes that are read.
func TestReadAgain(t *testing.T) {
	const size = 2 << 20
	fill := func(text string) []byte { return bytes.Repeat([]byte(text), size/len(text)) }
	lying := "WARC/1.0\r\nContent-Length: 99999999\r\n\r\n"
	packed := members(lying + "x")
	for name, file := range map[string][]byte{
		"lengths beyond the end":         fill(lying),
		"lengths of the rest":            rests(size),
		"heads without an end":           fill("WARC/1.0\r\n"),
		"heads without a length":         fill("WARC/1.0\r\n\r\n"),
		"heads of one long line":         fill("WARC/1.0\r\nWARC/"),
		"no heads":                       append([]byte("WARC/1.0\r\n\r\n"), fill("\r\n\r\n")...),
		"packed lengths beyond the end":  bytes.Repeat(packed, size/len(packed)),
		"overlapping members":            overlapping(size / 60),
		"members in names of members":    append(packed, fill("\x1f\x8b\x08\x08")...),
		"members in comments of members": append(packed, fill("\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\x00")...),
		"beginnings of members":          append(packed, fill("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00")...),
	} {
		in := &counting{Reader: bytes.NewReader(file)}
		r := NewReader(in)
		var err error
		for n := 0; err != io.EOF; n++ {
			if _, err = r.Next(); n > 2*size {
				t.Fatalf("%s: does not end", name)
			}
		}
		// What a member unpacks to, or a search looks at, counts as well.
		if limit := int64(2 * (minReread + (rereadFactor+2)*len(file))); in.n > limit || r.src.processed > limit {
			t.Errorf("%s: %d bytes of %d were read, %d with those unpacked; want %d at the most", name, in.n, len(file), r.src.processed, limit)
		}
	}
}

// rests makes records each of which says that it is the rest of the file but
// for a byte.
func rests(size int) []byte {
	var file []byte
	for len(file) < size {
		head := "WARC/1.0\r\nContent-Length: %08d\r\n\r\n"
		file = fmt.Appendf(file, head, size-len(file)-len(head))
	}
	return file
}

// TestDamagedHalf: what is whole between damaged records is found.
func TestDamagedHalf(t *testing.T) {
	const records = 600
	whole := func(n int) string {
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: x:%d\r\nContent-Length: 500\r\n\r\n%s\r\n\r\n", n, strings.Repeat("y", 500))
	}
	for name, damage := range map[string]func(n int) []byte{
		"no length":         func(n int) []byte { return []byte(strings.Replace(whole(n), "Length: 500", "Lenght: 500", 1)) },
		"packed, no length": func(n int) []byte { return members(strings.Replace(whole(n), "Length: 500", "Lenght: 500", 1)) },
		"packed, too long":  func(n int) []byte { return members(strings.Replace(whole(n), "Length: 500", "Length: 900", 1)) },
		"packed, a byte":    func(n int) []byte { b := members(whole(n)); b[len(b)-5] ^= 1; return b },
	} {
		var file []byte
		for n := range records {
			switch {
			case n%2 == 1:
				file = append(file, damage(n)...)
			case strings.HasPrefix(name, "packed"):
				file = append(file, members(whole(n))...)
			default:
				file = append(file, whole(n)...)
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
				t.Errorf("%s: found %d records, but not number %d", name, len(found), n)
				break
			}
		}
	}
}
