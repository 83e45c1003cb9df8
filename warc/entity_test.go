package warc

import (
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestEntity: what of a message is its payload, in pieces of any size.
func TestEntity(t *testing.T) {
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tc := range []struct {
		name, block, want string
		known             bool
		fault             error // of reading
	}{
		{"length", plainAnswer, "hello", true, nil},
		{"line feeds alone", strings.ReplaceAll(plainAnswer, "\r\n", "\n"), "hello", true, nil},
		{"chunks", chunkedAnswer, "hello world", true, nil},
		{"trailer", chunked + "5\r\nhello\r\n0\r\nX: y\r\nZ: z\r\n\r\n", "hello", true, nil},
		{"chunks of line feeds alone", chunked + "5\nhello\n0\n\n", "hello", true, nil},
		{"capitals, zeros, space and extension", chunked + "00B ;a=\"b\"\r\nhello world\r\n0\r\n\r\n", "hello world", true, nil},
		{"no body", answer("HTTP/1.1 204 No Content", ""), "", true, nil},
		{"folded field", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "x", true, nil},
		{"identity", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity", "x"), "x", true, nil},
		{"interim answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + plainAnswer, "hello", true, nil},
		{"switched protocol", answer("HTTP/1.1 101 Switching Protocols", "x"), "x", true, nil},
		{"request", "POST / HTTP/1.1\r\nHost: h\r\n\r\nbody", "body", true, nil},
		{"content coding stays", answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip", "\x1f\x8b"), "\x1f\x8b", true, nil},
		{"another transfer coding", answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked", "1\r\nx\r\n0\r\n\r\n"), "x", false, nil},
		{"not chunked at all", chunked + "hello", "hello", true, nil},
		{"not chunked, with lines", chunked + "hello\r\nworld", "hello\r\nworld", true, nil},
		{"cut in a chunk", chunked + "5\r\nhel", "hel", true, fetch.Truncated},
		{"cut before the last chunk", chunked + "5\r\nhello\r\n", "hello", true, fetch.Truncated},
		{"cut in the trailer", chunked + "5\r\nhello\r\n0\r\n", "hello", true, fetch.Truncated},
		{"malformed second chunk", chunked + "5\r\nhello\r\nxyz\r\n", "hello", false, fetch.Truncated},
		{"chunk longer than it says", chunked + "4\r\nhello\r\n0\r\n\r\n", "hell", false, fetch.Truncated},
		{"size beyond all numbers", chunked + "5\r\nhello\r\nffffffffffffffffff\r\n", "hello", false, fetch.Truncated},
		{"behind the last chunk", chunkedAnswer + "more", "hello world", true, nil},
		{"no head", "", "", false, nil},
		{"cut head", "HTTP/1.1 200 OK\r\nA: b\r\n", "", false, nil},
		{"endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHead/6), "", false, fetch.Truncated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(tc.block) + 1} {
				if len(tc.block) > 1<<16 && size == 1 {
					continue
				}
				got, known := entityOf([]byte(tc.block), size)
				if string(got) != tc.want || known != tc.known {
					t.Errorf("pushed by %d: %q, %v; want %q, %v", size, got, known, tc.want, tc.known)
				}
				read, err := io.ReadAll(newMessage(strings.NewReader(tc.block), size))
				if string(read) != tc.want || fetch.FaultOf(err) != fetch.FaultOf(tc.fault) {
					t.Errorf("read by %d: %q, %v; want %q, %v", size, read, err, tc.want, tc.fault)
				}
			}
		})
	}
}

// TestDigester: one pass digests block and payload.
func TestDigester(t *testing.T) {
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
	} {
		d := NewDigester(SHA1, tc.t)
		for _, c := range []byte(tc.block) {
			d.Write([]byte{c})
		}
		if d.Block() != SHA1.sum(tc.block) || d.Payload() != tc.payload || d.Size() != int64(len(tc.block)) {
			t.Errorf("%s %q: %s, %s, %d", tc.t, tc.block, d.Block(), d.Payload(), d.Size())
		}
	}
}
