package http

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// pieces is a connection on which what is there comes size bytes at a time.
type pieces struct {
	net.Conn
	left []byte
	size int
}

func (c *pieces) SetReadDeadline(time.Time) error { return nil }

func (c *pieces) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.left[:min(c.size, len(c.left))])
	c.left = c.left[n:]
	return n, nil
}

// throughWire is what net/http is given of data, read with a buffer of that
// size.
func throughWire(data []byte, size, buffer int, head bool) (given []byte, w *wire) {
	w = &wire{Conn: &pieces{left: data, size: size}}
	w.bind(&exchange{noBody: head})
	p := make([]byte, buffer)
	for {
		n, err := w.Read(p)
		given = append(given, p[:n]...)
		if err != nil {
			return given, w
		}
	}
}

// However a response comes, net/http is given the same: what came, or that
// mended. What net/http reads as one whole response is not mended but for line
// ends of a trailer.
func FuzzWire(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1",
		"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\nmore",
		"HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\nX: y\r\n\r\n5;x\nhello\n0\nA: b\n\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
		"SSH-2.0-x\r\n", "HTTP/1.1 200", "", "HTTP/1.1 204 x\r\n\r\n\r\n",
	} {
		f.Add([]byte(s), 3, 7, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, size, buffer int, head bool) {
		if size < 1 || buffer < 1 || buffer > 1<<16 {
			return
		}
		whole, w := throughWire(data, len(data)+1, len(data)+64, head)
		parts, v := throughWire(data, size, buffer, head)
		if !bytes.Equal(whole, parts) || w.spent != v.spent || w.frame.odd != v.frame.odd {
			t.Fatalf("%q: given %q at once, %q in pieces", data, whole, parts)
		}
		if w.frame.odd == "" && !bytes.HasPrefix(data, whole) {
			t.Errorf("%q: given %q", data, whole)
		}
		if n, ok := responseLength(data, head); ok && w.frame.odd != "" {
			if k, same := responseLength(whole, head); !same || k < n {
				t.Errorf("%q: given %q, of which %d bytes are a response, not %d", data, whole, k, n)
			}
		}
	})
}
