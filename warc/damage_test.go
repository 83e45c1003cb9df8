package warc

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// readTargets reads a file to its end. It returns the URLs of the records and
// "error" for one or more errors.
func readTargets(t *testing.T, r *Reader) string {
	t.Helper()
	var got []string
	for range 1000 {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return strings.Join(got, " ")
		case err == nil:
			got = append(got, h.Target())
		case len(got) == 0 || got[len(got)-1] != "error":
			got = append(got, "error")
		}
	}
	t.Fatalf("the file does not end: %q", got)
	return ""
}

// TestGarbageBeforeMember reads files with damage of each length near the size of
// the window in which the Reader searches.
func TestGarbageBeforeMember(t *testing.T) {
	one, two := res(1, ""), res(2, "")
	for _, c := range []struct {
		name       string
		start, end []byte
	}{
		{"gzip", members(one), members(two)},
		{"zstd", encodeZstd(t, []string{one}), encodeZstd(t, []string{two})},
	} {
		for size := 4<<10 - 10; size < 4<<10+10; size++ {
			file := append(append(bytes.Clone(c.start), bytes.Repeat([]byte("x"), size)...), c.end...)
			if got := readTargets(t, NewReader(bytes.NewReader(file))); got != "file:///1 error file:///2" {
				t.Errorf("%s: %d bytes of garbage: got %s", c.name, size, got)
			}
		}
	}
}

// TestReaderAtDamage starts at a damaged record in the middle of a file. The
// offsets of the records after it are those in the file.
func TestReaderAtDamage(t *testing.T) {
	texts := []string{res(1, ""), strings.Replace(res(2, ""), "Length: 5", "Length: x", 1), res(3, ""), res(4, "")}
	for name, parts := range map[string][][]byte{
		"uncompressed": {[]byte(texts[0]), []byte(texts[1]), []byte(texts[2]), []byte(texts[3])},
		"gzip":         {members(texts[0]), members(texts[1]), members(texts[2]), members(texts[3])},
		"zstd":         {encodeZstd(t, texts[:1]), encodeZstd(t, texts[1:2]), encodeZstd(t, texts[2:3]), encodeZstd(t, texts[3:])},
	} {
		offset := int64(len(parts[0]))
		r := NewReaderAt(bytes.NewReader(bytes.Join(parts, nil)), offset)
		if h, err := r.Next(); err == nil {
			t.Errorf("%s: got %v", name, h)
		}
		offset += int64(len(parts[1]))
		for i := 2; i < 4; i++ {
			h, err := r.Next()
			if err != nil || h.Target() != fmt.Sprintf("file:///%d", i+1) || h.Offset != offset {
				t.Fatalf("%s: got %v, %v, want record %d at %d", name, h, err, i+1, offset)
			}
			offset += int64(len(parts[i]))
		}
		if h, err := r.Next(); err != io.EOF {
			t.Errorf("%s: got %v, %v", name, h, err)
		}
	}
}

// TestHeaderLimit reads headers of the maximum size, and of a byte more.
func TestHeaderLimit(t *testing.T) {
	for _, lines := range []int{1, 2, 100} {
		for more, want := range []string{"file:///1", "error file:///2"} {
			one := res(1, "\nX-Pad: "+strings.TrimSuffix(strings.Repeat("\nX-Pad: ", lines), "\nX-Pad: "))
			head, block, _ := strings.Cut(one, "\r\n\r\n")
			one = head + strings.Repeat("x", maxRecordHead-len(head)-len("\r\n\r\n")+more) + "\r\n\r\n" + block
			text := one
			if more > 0 {
				text += res(2, "")
			}
			if got := readTargets(t, NewReader(strings.NewReader(text))); got != want {
				t.Errorf("%d lines, %d bytes too many: got %s", lines, more, got)
			}
		}
	}
}

// TestProcessed checks the number of bytes on which the limit for reading again
// depends. It consists of the bytes of the file and of the decompressed bytes of
// intact members, whatever the damage is.
func TestProcessed(t *testing.T) {
	one, two := rec(1, "WARC-Type: metadata\nWARC-Target-URI: x:1", strings.Repeat("one ", 50_000)), res(2, "")
	long := rec(3, "WARC-Type: metadata\nWARC-Target-URI: x:3", strings.Repeat("long ", 100_000))
	noLength := strings.Replace(long, "Length: ", "Length: x", 1)
	changed := members(long)
	changed[len(changed)-5] ^= 1 // in the checksum
	fake := append(members(noLength), bytes.Repeat([]byte("\x1f\x8b\x08\x00"), 20)...)
	for name, c := range map[string]struct {
		file     []byte
		expanded int
	}{
		"uncompressed":                        {[]byte(one + two), 0},
		"uncompressed, no length":             {[]byte(one + noLength + two), 0},
		"compressed":                          {members(one, two), len(one + two)},
		"compressed, no length":               {members(one, noLength, two), len(one + two)},
		"compressed, another checksum":        {bytes.Join([][]byte{members(one), changed, members(two)}, nil), len(one + two)},
		"compressed, starts without a member": {bytes.Join([][]byte{members(one), fake, members(two)}, nil), len(one + two)},
		"zstd, no length":                     {encodeZstd(t, []string{one, noLength, two}), len(one + two)},
	} {
		r := NewReader(bytes.NewReader(c.file))
		readTargets(t, r)
		if got, want := r.src.processed-r.src.reread, int64(len(c.file)+c.expanded); got != want {
			t.Errorf("%s: %d bytes processed once, %d read again, want %d", name, got, r.src.reread, want)
		}
	}
}
