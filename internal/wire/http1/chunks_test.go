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

// A decodeResult is the result of decoding a chunked body.
type decodeResult struct {
	data, trailer, err string
	consumed           int // consumed bytes of the body
	done               bool
	notes              int
}

func decode(wire []byte, size int, mode Mode) (d decodeResult) {
	c := Chunks{Rules: &Rules{Mode: mode, Note: func(string) { d.notes++ }}}
	for d.consumed < len(wire) && !c.Done() && d.err == "" {
		n, data, err := c.Next(wire[d.consumed:min(d.consumed+size, len(wire))])
		d.consumed += n
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
	longest := strings.Repeat("x", MaxTrailer-len("A: \r\n\r\n"))
	for _, test := range []struct {
		name, wire string
		want       decodeResult
	}{
		{"two chunks", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", decodeResult{data: "hello world", done: true}},
		{"empty", "0\r\n\r\n", decodeResult{done: true}},
		{"trailer", "0\r\nA: b\r\n c\r\n\r\n", decodeResult{done: true, trailer: "[{A b c}]"}},
		{"extension, capitals and zeros", "000A ; x=\"y\"\r\n0123456789\r\n000\r\n\r\n", decodeResult{data: "0123456789", done: true}},
		{"digit 9", "9\r\n123456789\r\n0\r\n\r\n", decodeResult{data: "123456789", done: true}},
		{"longest line", "1;" + strings.Repeat("x", maxChunkLine-4) + "\r\nx\r\n0\r\n\r\n", decodeResult{data: "x", done: true}},
		{"line of one byte more", "1;" + strings.Repeat("x", maxChunkLine-3) + "\r\nx\r\n0\r\n\r\n", decodeResult{err: "chunk line longer than 4096 bytes"}},
		{"CR first", "\r5\r\n", decodeResult{err: "bare CR in a chunk line"}},
		{"longest trailer", "0\r\nA: " + longest + "\r\n\r\n", decodeResult{done: true, trailer: "[{A " + longest + "}]"}},
		{"trailer of one byte more", "0\r\nA: x" + longest + "\r\n\r\n", decodeResult{err: "trailer larger than 65536 bytes or 500 fields"}},
		{"two long trailer lines", "0\r\nA: " + longest[1000:] + "\r\nB: " + longest[:1000] + "\r\n\r\n", decodeResult{err: "trailer larger than 65536 bytes or 500 fields"}},
		{"bare LF", "5\nhello\n0\nA: b\n\n", decodeResult{data: "hello", done: true, trailer: "[{A b}]", notes: 1}},
		{"size of 16 digits", "0000000000000001\r\nx\r\n0\r\n\r\n", decodeResult{data: "x", done: true}},
		{"size of 17 digits", "00000000000000001\r\n", decodeResult{err: "malformed chunk size"}},
		{"size beyond 63 bits", "8000000000000000\r\n", decodeResult{err: "malformed chunk size"}},
		{"largest size", "7fffffffffffffff\r\nx", decodeResult{data: "x"}},
		{"no size", ";x\r\n", decodeResult{err: "malformed chunk size"}},
		{"blank line", "\r\n", decodeResult{err: "malformed chunk size"}},
		{"sign", "+5\r\n", decodeResult{err: "malformed chunk size"}},
		{"prefix", "0x5\r\n", decodeResult{err: "malformed chunk size"}},
		{"blank first", " 5\r\n", decodeResult{err: "malformed chunk size"}},
		{"two sizes", "5 5\r\n", decodeResult{err: "malformed chunk size"}},
		{"bare CR", "5;\rx\r\n", decodeResult{err: "bare CR in a chunk line"}},
		{"chunk longer than its size", "4\r\nhello\r\n", decodeResult{data: "hell", err: "chunk longer than announced"}},
		{"endless line", "5;" + strings.Repeat("x", 2*maxChunkLine), decodeResult{err: "chunk line longer than 4096 bytes"}},
		{"extensions", strings.Repeat("1;"+long+"\r\nx\r\n", 100), decodeResult{data: "xxxxxxxx", err: "chunk extensions exceed the limit"}},
		{"endless trailer", "0\r\nA: " + strings.Repeat("x", MaxTrailer), decodeResult{err: "trailer larger than 65536 bytes or 500 fields"}},
		{"many fields", "0\r\n" + strings.Repeat("A:\r\n", MaxFields+1), decodeResult{err: "trailer larger than 65536 bytes or 500 fields"}},
		{"control character in the trailer", "0\r\nA: \x1b\r\n\r\n", decodeResult{done: true, err: "control character in the response head"}},
		{"incomplete", "5\r\nhel", decodeResult{data: "hel"}},
	} {
		for _, size := range []int{1, 7, len(test.wire)} {
			got := decode([]byte(test.wire), size, Regular)
			if test.want.done && got.consumed != len(test.wire) {
				t.Errorf("%s by %d: %d bytes used", test.name, size, got.consumed)
			}
			if got.consumed = 0; got != test.want {
				t.Errorf("%s by %d: %+v", test.name, size, got)
			}
		}
	}
	if d := decode([]byte("5\nhello\r\n"), 9, Strict); d.err == "" {
		t.Error("Strict accepts a bare LF")
	}
}

// TestChunksAllocations checks that decoding a chunk does not allocate memory,
// regardless of the size of the pieces.
func TestChunksAllocations(t *testing.T) {
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

// FuzzChunks checks that the result does not depend on the size of the pieces.
// A body that the standard library accepts is rejected or has the same data.
func FuzzChunks(f *testing.F) {
	for _, s := range []string{"5\r\nhello\r\n0\r\nA: b\r\n\r\nmore", "5;x\nhello\n0\n\n", "a\r\n0123456789\r\n0", "1\r\nxx\r\n", "00000000000000001\r\nx\r\n"} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, wire []byte, size uint8) {
		complete := decode(wire, len(wire)+1, Regular)
		if pieces := decode(wire, int(size)+1, Regular); pieces != complete {
			t.Fatalf("%q: %+v at once, %+v in pieces", wire, complete, pieces)
		}
		if complete.consumed > len(wire) {
			t.Fatalf("%q: %d bytes used", wire, complete.consumed)
		}
		std, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(wire)))
		switch {
		case complete.err != "" || complete.notes > 0:
		case bytes.Contains(wire, []byte(" ;")) || bytes.Contains(wire, []byte("\t;")): // RFC 9112 7.1.1 allows this, and the library does not
		case complete.done && err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Errorf("%q: read as %q, which the standard library rejects: %v", wire, complete.data, err)
		case complete.done && string(std) != complete.data:
			t.Errorf("%q: %q, the standard library reads %q", wire, complete.data, std)
		}
	})
}
