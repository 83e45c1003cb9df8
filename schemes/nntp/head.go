package nntp

import (
	"bytes"
	"io"
	"net/mail"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// maxHead bounds what is read of a head at once.
const maxHead = 256 << 10

// readHead reads the head of a message with the empty line behind it, or as
// much as maxHead allows, and returns a reader of what follows. An error of r
// is left for that reader.
func readHead(r io.Reader) (head []byte, rest io.Reader) {
	buf := make([]byte, 0, 4<<10)
	for len(buf) < maxHead {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		seen := max(len(buf)-3, 0)
		n, err := r.Read(buf[len(buf):min(cap(buf), maxHead)])
		buf = buf[:len(buf)+n]
		if end := headEnd(buf[seen:]); end >= 0 {
			end += seen
			return buf[:end:end], io.MultiReader(bytes.NewReader(buf[end:]), r)
		}
		if err != nil {
			return buf, failing{err}
		}
	}
	return buf, r
}

// headEnd is the end of the empty line in text, or -1.
func headEnd(text []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		switch rest := text[at:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return at + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return at + 2
		}
	}
}

// failing is a reader of nothing but an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// parseHead reads the fields of a head, unfolded (RFC 5322 2.2). A line that is
// no field is left out, with what is folded under it.
func parseHead(head []byte) fetch.Header {
	var h fetch.Header
	var value []byte
	inside := false
	end := func() {
		if inside {
			h[len(h)-1].Value = string(bytes.TrimSpace(value))
		}
	}
	for text := range bytes.Lines(head) {
		text = bytes.TrimRight(text, "\r\n")
		if folded := bytes.TrimLeft(text, " \t"); len(folded) < len(text) {
			value = append(append(value, ' '), folded...)
			continue
		}
		end()
		name, first, ok := bytes.Cut(text, []byte(":"))
		if inside = ok && len(name) > 0 && !bytes.ContainsAny(name, " \t"); inside {
			h = append(h, fetch.Field{Name: string(name)})
			value = append(value[:0], first...)
		}
	}
	end()
	return h
}

// dateOf reads the value of a Date field; zero is for one that is none.
func dateOf(text string) time.Time {
	t, err := mail.ParseDate(text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
