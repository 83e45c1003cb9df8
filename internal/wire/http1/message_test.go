package http1

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func message(head, body string) string { return head + "\r\n\r\n" + body }

var (
	plainAnswer   = message("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5", "hello")
	chunkedAnswer = message("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")
)

// TestMessage checks that the payload does not depend on the size of the
// pieces.
func TestMessage(t *testing.T) {
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tc := range []struct {
		name, block, want string
		valid             bool
		fault             error // error of Reader
	}{
		{"length", plainAnswer, "hello", true, nil},
		{"bare line feeds", strings.ReplaceAll(plainAnswer, "\r\n", "\n"), "hello", true, nil},
		{"chunks", chunkedAnswer, "hello world", true, nil},
		{"trailer", chunked + "5\r\nhello\r\n0\r\nX: y\r\nZ: z\r\n\r\n", "hello", true, nil},
		{"chunks with bare line feeds", chunked + "5\nhello\n0\n\n", "hello", true, nil},
		{"capitals, zeros, space and extension", chunked + "00B ;a=\"b\"\r\nhello world\r\n0\r\n\r\n", "hello world", true, nil},
		{"no body", message("HTTP/1.1 204 No Content", ""), "", true, nil},
		{"folded field", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "x", true, nil},
		{"identity", message("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity", "x"), "x", true, nil},
		{"interim responses", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + plainAnswer, "hello", true, nil},
		{"switched protocol", message("HTTP/1.1 101 Switching Protocols", "x"), "x", true, nil},
		{"request", "POST / HTTP/1.1\r\nHost: h\r\n\r\nbody", "body", true, nil},
		{"content coding kept", message("HTTP/1.1 200 OK\r\nContent-Encoding: gzip", "\x1f\x8b"), "\x1f\x8b", true, nil},
		{"another transfer coding", message("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked", "1\r\nx\r\n0\r\n\r\n"), "x", false, nil},
		{"chunked twice", message("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: Chunked", "1\r\nx\r\n0\r\n\r\n"), "x", true, nil},
		{"chunked and identity", message("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity", "1\r\nx\r\n0\r\n\r\n"), "x", true, nil},
		{"chunked before another coding", message("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip", "\x1f\x8b"), "\x1f\x8b", false, nil},
		{"no status code", message("HTTP/1.1 OK\r\nTransfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n"), "x", true, nil},
		{"blank lines first", "\r\n\r\n" + plainAnswer, "hello", true, nil},
		{"lines that end in CR CR LF", "HTTP/1.1 200 OK\r\r\nA: b\r\r\n\r\r\nhello", "hello", true, nil},
		{"not chunked, with an endless line", chunked + strings.Repeat("x", 3*maxChunkLine), strings.Repeat("x", 3*maxChunkLine), true, nil},
		{"not chunked at all", chunked + "hello", "hello", true, nil},
		{"not chunked, with lines", chunked + "hello\r\nworld", "hello\r\nworld", true, nil},
		{"truncated in a chunk", chunked + "5\r\nhel", "hel", true, io.ErrUnexpectedEOF},
		{"truncated before the last chunk", chunked + "5\r\nhello\r\n", "hello", true, io.ErrUnexpectedEOF},
		{"truncated in the trailer", chunked + "5\r\nhello\r\n0\r\n", "hello", true, io.ErrUnexpectedEOF},
		{"malformed second chunk", chunked + "5\r\nhello\r\nxyz\r\n", "hello", false, io.ErrUnexpectedEOF},
		{"chunk longer than its size", chunked + "4\r\nhello\r\n0\r\n\r\n", "hell", false, io.ErrUnexpectedEOF},
		{"chunk size above 64 bits", chunked + "5\r\nhello\r\nffffffffffffffffff\r\n", "hello", false, io.ErrUnexpectedEOF},
		{"bytes after the last chunk", chunkedAnswer + "more", "hello world", true, nil},
		{"no head", "", "", false, nil},
		{"truncated head", "HTTP/1.1 200 OK\r\nA: b\r\n", "", false, nil},
		{"endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxStoredHead/6), "", false, io.ErrUnexpectedEOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(tc.block) + 1} {
				if len(tc.block) > 1<<16 && size == 1 {
					continue
				}
				got, valid := payloadOf([]byte(tc.block), size)
				if string(got) != tc.want || valid != tc.valid {
					t.Errorf("pushed by %d: %q, %v; want %q, %v", size, got, valid, tc.want, tc.valid)
				}
				read, err := io.ReadAll(NewReader(strings.NewReader(tc.block), size))
				if string(read) != tc.want || err != tc.fault {
					t.Errorf("read by %d: %q, %v; want %q, %v", size, read, err, tc.want, tc.fault)
				}
			}
		})
	}
}

// FuzzMessage checks that the payload does not depend on the size of the
// pieces, and that Reader and Message return the same payload.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{plainAnswer, chunkedAnswer, message("HTTP/1.1 200 OK\r\nContent-Encoding: gzip", "\x1f\x8b"), "HTTP/1.1 100 Continue\r\n\r\n" + chunkedAnswer, message("HTTP/1.1 200\r\nTransfer-Encoding: chunked", "hello")} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, block []byte, size uint8) {
		complete, valid := payloadOf(block, len(block)+1)
		pieces, valid2 := payloadOf(block, int(size)+1)
		if !bytes.Equal(complete, pieces) || valid != valid2 || len(complete) > len(block) {
			t.Fatalf("%q or %q, %v or %v", complete, pieces, valid, valid2)
		}
		m := NewReader(bytes.NewReader(block), int(size)+1)
		read, err := io.ReadAll(m)
		if err == nil && !bytes.Equal(read, complete) {
			t.Fatalf("read %q, pushed %q", read, complete)
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	})
}

func payloadOf(block []byte, size int) (all []byte, valid bool) {
	var m Message
	for len(block) > 0 {
		part := block[:min(size, len(block))]
		block = block[len(part):]
		for len(part) > 0 {
			n, payload := m.Next(part)
			all = append(all, payload...)
			part = part[n:]
		}
	}
	return append(all, m.End()...), m.PayloadValid()
}
