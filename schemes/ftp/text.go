package ftp

import (
	"bufio"
	"bytes"
)

const textBuffer = 32 << 10

// readText enables the conversion of CR LF to LF for a text transfer, if
// Options.LF is set.
func (d *driver) readText(t *transfer, p path) {
	if d.LF && p.kind == "A" {
		t.text = bufio.NewReaderSize(t.Conn, textBuffer)
	}
}

// Read reads the data of a transfer. In a text it replaces CR LF by LF (RFC 959
// 3.1.1.1) and keeps other CR bytes.
func (t *transfer) Read(p []byte) (n int, err error) {
	if t.text == nil {
		return t.Conn.Read(p)
	}
	for n < len(p) {
		if t.text.Buffered() < 2 {
			if n > 0 {
				break // return the available bytes instead of blocking
			}
			if _, err := t.text.Peek(2); err != nil && t.text.Buffered() == 0 {
				return 0, err
			}
		}
		w, _ := t.text.Peek(t.text.Buffered())
		if bytes.HasPrefix(w, []byte("\r\n")) {
			w = w[1:]
			t.text.Discard(1)
		}
		if i := bytes.IndexByte(w[1:], '\r'); i >= 0 {
			w = w[:i+1]
		}
		m := copy(p[n:], w)
		t.text.Discard(m)
		n += m
	}
	return n, nil
}
