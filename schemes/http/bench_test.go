package http

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// BenchmarkReader reads responses from memory: a small response, which measures
// the head, and bodies of 1 MiB in each framing.
func BenchmarkReader(b *testing.B) {
	const fields = "Date: Sun, 22 Nov 2026 13:00:00 GMT\r\nServer: nginx\r\nContent-Type: text/html\r\n" +
		"Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\nETag: \"636f3a1b-264\"\r\nAccept-Ranges: bytes\r\n"
	const head = "HTTP/1.1 200 OK\r\n" + fields
	chunked := func(size string, data string, n int) string {
		return head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(size+"\r\n"+data+"\r\n", n) + "0\r\n\r\n"
	}
	for _, bench := range []struct{ name, wire string }{
		{"small", head + "Content-Length: 5\r\n\r\nhello"},
		{"length", head + "Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20)},
		{"chunks of 8 KiB", chunked("2000", strings.Repeat("x", 8<<10), 128)},
		{"chunks of 64 bytes", chunked("40", strings.Repeat("x", 64), 16<<10)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			source := bytes.NewReader(nil)
			c := newConn(readerConn{&pieceConn{}, source}, nil)
			buffer := make([]byte, 64<<10)
			b.SetBytes(int64(len(bench.wire)))
			b.ReportAllocs()
			for b.Loop() {
				source.Reset([]byte(bench.wire))
				c.r.Reset(c.Conn)
				r := leaseReader(c)
				if err := r.response(); err != nil {
					b.Fatal(err)
				}
				var err error
				for err == nil {
					_, err = r.Read(buffer)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}

// A readerConn is a connection that reads from r.
type readerConn struct {
	*pieceConn
	r io.Reader
}

func (c readerConn) Read(p []byte) (int, error) { return c.r.Read(p) }
