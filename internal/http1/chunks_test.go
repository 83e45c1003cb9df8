package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"strings"
	"testing"
)

// A decoding is what Chunks made of the bytes of a body.
type decoding struct {
	data, trailer, err string
	used               int // bytes of the body
	done               bool
	notes              int
}

func decode(wire []byte, size int, mode Mode) (d decoding) {
	c := Chunks{Rules: &Rules{Mode: mode, Note: func(string) { d.notes++ }}}
	for d.used < len(wire) && !c.Done() && d.err == "" {
		n, data, err := c.Next(wire[d.used:min(d.used+size, len(wire))])
		d.used += n
		d.data += string(data)
		if err != nil {
			d.err = err.Error()
		}
		if n == 0 {
			d.err = "no progress"
		}
	}
	if d.done = c.Done(); d.done {
		trailer, err := ParseTrailer[field](&c)
		if len(trailer) > 0 {
			d.trailer = fmt.Sprint(trailer)
		}
		if err != nil {
			d.err = err.Error()
		}
	}
	return d
}

func TestChunks(t *testing.T) {
	long := strings.Repeat("y", 2000)
	for _, test := range []struct {
		name, wire string
		want       decoding
	}{
		{"two chunks", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", decoding{data: "hello world", done: true}},
		{"empty", "0\r\n\r\n", decoding{done: true}},
		{"trailer", "0\r\nA: b\r\n c\r\n\r\n", decoding{done: true, trailer: "[{A b c}]"}},
		{"extension, capitals and zeros", "000A ; x=\"y\"\r\n0123456789\r\n000\r\n\r\n", decoding{data: "0123456789", done: true}},
		{"bare LF", "5\nhello\n0\nA: b\n\n", decoding{data: "hello", done: true, trailer: "[{A b}]", notes: 1}},
		{"size of 16 digits", "0000000000000001\r\nx\r\n0\r\n\r\n", decoding{data: "x", done: true}},
		{"size of 17 digits", "00000000000000001\r\n", decoding{err: "malformed chunk size"}},
		{"size beyond 63 bits", "8000000000000000\r\n", decoding{err: "malformed chunk size"}},
		{"largest size", "7fffffffffffffff\r\nx", decoding{data: "x"}},
		{"no size", ";x\r\n", decoding{err: "malformed chunk size"}},
		{"blank line", "\r\n", decoding{err: "malformed chunk size"}},
		{"sign", "+5\r\n", decoding{err: "malformed chunk size"}},
		{"prefix", "0x5\r\n", decoding{err: "malformed chunk size"}},
		{"blank first", " 5\r\n", decoding{err: "malformed chunk size"}},
		{"two sizes", "5 5\r\n", decoding{err: "malformed chunk size"}},
		{"bare CR", "5;\rx\r\n", decoding{err: "bare CR in a chunk line"}},
		{"longer than announced", "4\r\nhello\r\n", decoding{data: "hell", err: "chunk longer than announced"}},
		{"endless line", "5;" + strings.Repeat("x", 2*maxChunkLine), decoding{err: "chunk line longer than 4096 bytes"}},
		{"extensions", strings.Repeat("1;"+long+"\r\nx\r\n", 100), decoding{data: "xxxxxxxx", err: "chunk extensions exceed the limit"}},
		{"endless trailer", "0\r\nA: " + strings.Repeat("x", MaxTrailer), decoding{err: "trailer larger than 65536 bytes or 500 fields"}},
		{"many fields", "0\r\n" + strings.Repeat("A:\r\n", MaxFields+1), decoding{err: "trailer larger than 65536 bytes or 500 fields"}},
		{"control character in the trailer", "0\r\nA: \x1b\r\n\r\n", decoding{done: true, err: "control character in the response head"}},
		{"incomplete", "5\r\nhel", decoding{data: "hel"}},
	} {
		for _, size := range []int{1, 7, len(test.wire)} {
			got := decode([]byte(test.wire), size, Regular)
			if test.want.done && got.used != len(test.wire) {
				t.Errorf("%s by %d: %d bytes used", test.name, size, got.used)
			}
			if got.used = 0; got != test.want {
				t.Errorf("%s by %d: %+v", test.name, size, got)
			}
		}
	}
	if d := decode([]byte("5\nhello\r\n"), 9, Strict); d.err == "" {
		t.Error("Strict accepts a bare LF")
	}
}

// TestChunksAllocate: a chunk costs no memory, in pieces or not.
func TestChunksAllocate(t *testing.T) {
	wire := []byte(strings.Repeat("5;x=y\r\nhello\r\n", 1000))
	for _, size := range []int{3, 100} {
		c := Chunks{Rules: &Rules{}, line: make([]byte, 0, 100)}
		allocs := testing.AllocsPerRun(10, func() {
			for p := wire; len(p) > 0; {
				n, _, err := c.Next(p[:min(size, len(p))])
				if err != nil {
					t.Fatal(err)
				}
				p = p[n:]
			}
		})
		if allocs > 0 {
			t.Errorf("%v allocations by %d", allocs, size)
		}
	}
}

// FuzzChunks: a body is the same in whatever pieces it arrives. What the
// standard library reads as a complete body is the same here unless it is
// rejected.
func FuzzChunks(f *testing.F) {
	for _, s := range []string{"5\r\nhello\r\n0\r\nA: b\r\n\r\nmore", "5;x\nhello\n0\n\n", "a\r\n0123456789\r\n0", "1\r\nxx\r\n", "00000000000000001\r\nx\r\n"} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, wire []byte, size uint8) {
		whole := decode(wire, len(wire)+1, Regular)
		if parts := decode(wire, int(size)+1, Regular); parts != whole {
			t.Fatalf("%q: %+v at once, %+v in pieces", wire, whole, parts)
		}
		if whole.used > len(wire) {
			t.Fatalf("%q: %d bytes used", wire, whole.used)
		}
		theirs, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(wire)))
		switch {
		case whole.err != "" || whole.notes > 0:
		case whole.done && err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Errorf("%q: read as %q, which the standard library rejects: %v", wire, whole.data, err)
		case whole.done && string(theirs) != whole.data:
			t.Errorf("%q: %q, the standard library reads %q", wire, whole.data, theirs)
		}
	})
}
