package http1

import (
	"fmt"
	"testing"
)

// TestFrame checks the framing of bodies and the strictest mode that accepts
// it.
func TestFrame(t *testing.T) {
	const v11, v10 = "HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n"
	for _, test := range []struct {
		name, head string
		least      Mode
		want       string // end, length, codings, keep-alive
	}{
		{"no header fields", v11, Strict, "close -1 [] true"},
		{"length", v11 + "Content-Length: 5\r\n", Strict, "length 5 [] true"},
		{"length zero", v11 + "Content-Length: 0\r\n", Strict, "head 0 [] true"},
		{"length as a list", v11 + "Content-Length: 5 ,5\r\nContent-Length: 5\r\n", Strict, "length 5 [] true"},
		{"204", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n", Strict, "head 0 [] true"},
		{"304", "HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n", Strict, "head 0 [] true"},
		{"close", v11 + "Connection: x, Close\r\nContent-Length: 5\r\n", Strict, "length 5 [] false"},
		{"Proxy-Connection: close", v11 + "Proxy-Connection: close\r\nContent-Length: 5\r\n", Strict, "length 5 [] false"},
		{"HTTP/1.0", v10 + "Content-Length: 5\r\n", Strict, "length 5 [] false"},
		{"HTTP/1.0 with keep-alive", v10 + "Connection: Keep-Alive\r\nContent-Length: 5\r\n", Strict, "length 5 [] true"},
		{"chunked", v11 + "Transfer-Encoding: Chunked\r\n", Strict, "chunks -1 [] true"},
		{"chunked and a length", v11 + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Strict, "chunks -1 [] false"},
		{"gzip and chunked", v11 + "Transfer-Encoding: gzip, chunked\r\n", Strict, "chunks -1 [gzip] true"},
		{"chunked twice", v11 + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Regular, "chunks -1 [] true"},
		{"chunked and identity", v11 + "Transfer-Encoding: chunked, identity\r\n", Regular, "chunks -1 [] true"},
		{"identity", v11 + "Transfer-Encoding: identity\r\nContent-Length: 5\r\n", Regular, "length 5 [] true"},
		{"HTTP/1.0 and chunked", v10 + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Regular, "length 5 [] false"},
		{"length above 62 bits", v11 + "Content-Length: 18446744073709551615\r\n", Regular, "close -1 [] true endless"},
		{"length above 62 bits and chunked", v11 + "Content-Length: 18446744073709551615\r\nTransfer-Encoding: chunked\r\n", Regular, "chunks -1 [] false"},
		{"two lengths", v11 + "Content-Length: 5, 6\r\n", Tolerant, "close -1 [] true"},
		{"empty length", v11 + "Content-Length: 5,\r\n", Tolerant, "close -1 [] true"},
		{"negative length", v11 + "Content-Length: -5\r\n", Tolerant, "close -1 [] true"},
		{"length with a sign", v11 + "Content-Length: +5\r\n", Tolerant, "close -1 [] true"},
		{"chunked twice and a length", v11 + "Transfer-Encoding: chunked, chunked\r\nContent-Length: 5\r\n", Tolerant, "chunks -1 [] true"},
		{"chunked and gzip", v11 + "Transfer-Encoding: chunked, gzip\r\n", Tolerant, "close -1 [chunked gzip] true"},
	} {
		for _, mode := range modes {
			rules := &Rules{Mode: mode}
			s, fields, err := ParseHead[field](rules, test.head)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Frame(rules, s, fields, false)
			if mode < test.least {
				if err == nil {
					t.Errorf("%s, mode %d: %+v", test.name, mode, f)
				}
				continue
			}
			end := [...]string{AtClose: "close", AtHead: "head", AtLength: "length", AtChunks: "chunks"}[f.End]
			got := fmt.Sprint(end, " ", f.Length, " ", f.Codings, " ", f.KeepAlive)
			if f.LengthOverflow {
				got += " endless"
			}
			if err != nil || mode != Stored && got != test.want {
				t.Errorf("%s, mode %d: %s, %v, want %s", test.name, mode, got, err, test.want)
			}
			if mode == Stored && f.End != AtClose && f.End != AtChunks {
				t.Errorf("%s: a stored body ends at its %s", test.name, end)
			}
		}
	}
}

// TestFrameHead checks that a response to HEAD has no body but a
// Content-Length.
func TestFrameHead(t *testing.T) {
	fields := []field{{"Content-Length", "5"}, {"Transfer-Encoding", "x"}}
	f, err := Frame(&Rules{}, Status{Proto: "HTTP/1.1", Minor: 1, Code: 200}, fields, true)
	if f.End != AtHead || f.Length != 5 || err != nil {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = Frame(&Rules{IgnoreLength: true}, Status{Proto: "HTTP/1.1", Minor: 1, Code: 200}, fields, false)
	if f.End != AtClose || f.Length != -1 || err != nil {
		t.Errorf("length ignored: %+v, %v", f, err)
	}
}
