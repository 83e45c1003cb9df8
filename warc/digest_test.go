package warc

import (
	"slices"
	"strings"
	"testing"
)

// TestDigester writes blocks byte by byte and in one part, and compares both
// digests. Two goroutines compute the digests of a large part.
func TestDigester(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", largePart/16)
	for _, tc := range []struct {
		t       Type
		block   string
		payload string
	}{
		{Response, plainAnswer, helloSum},
		{Response, chunkedAnswer, SHA1.sum("hello world")},
		{Response, "no http", ""},
		{Resource, "hello", helloSum},
		{Metadata, "hello", ""},
		{Request, "GET / HTTP/1.1\r\n\r\n", emptySum},
		{Response, "HTTP/1.1 200 OK\r\n\r\n" + large, SHA1.sum(large)},
		{Response, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n" + large + "\r\n0\r\n\r\n", SHA1.sum(large)},
		{Response, large, ""},
		{Resource, large, SHA1.sum(large)},
	} {
		for _, size := range []int{1, len(tc.block)} {
			d := newDigester(SHA1, tc.t)
			for part := range slices.Chunk([]byte(tc.block), size) {
				d.Write(part)
			}
			if d.Block() != SHA1.sum(tc.block) || d.Payload() != tc.payload || d.Size() != int64(len(tc.block)) {
				t.Errorf("%s %.60q, in parts of %d: got digests %s and %s, size %d", tc.t, tc.block, size, d.Block(), d.Payload(), d.Size())
			}
		}
	}
}
