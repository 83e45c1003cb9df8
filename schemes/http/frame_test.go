package http

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"
)

// all scans p in pieces of n bytes.
func (f *frame) all(p []byte, n int) int {
	total := 0
	for len(p) > 0 && f.state != ended {
		k := f.scan(p[:min(n, len(p))])
		total, p = total+k, p[k:]
	}
	return total
}

// Where net/http finds the end of a response, the frame finds it too, or
// does not see one: it never ends a response early.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1",
		"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\nmore",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello",
		"HTTP/1.1 204 x\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello!",
	} {
		f.Add([]byte(s), false, 3)
	}
	f.Fuzz(func(t *testing.T, wire []byte, head bool, piece int) {
		if piece < 1 || bytes.Contains(wire, []byte("HTTP/1.1 101")) {
			return
		}
		by, whole := frame{noBody: head}, frame{noBody: head}
		n := whole.scan(wire)
		if k := by.all(wire, piece); k != n || by.state != whole.state || by.state != unbounded && !bytes.Equal(by.head, whole.head) {
			t.Fatalf("%q: %d bytes at once, %d in pieces of %d", wire, n, k, piece)
		}
		used, ok := responseLength(wire, head)
		if ok && n < used {
			t.Errorf("%q: frame of %d bytes, response of %d", wire, n, used)
		}
	})
}

// responseLength is how much of wire net/http reads as one whole response.
func responseLength(wire []byte, head bool) (int, bool) {
	source := bytes.NewReader(wire)
	r := bufio.NewReader(source)
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return 0, false
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return 0, false
		}
		if resp.StatusCode >= 200 {
			return len(wire) - source.Len() - r.Buffered(), true
		}
	}
}
