package http

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/coding"
)

// framing is what the head says of the end of the body and of the connection.
type framing struct {
	length           string // the first value of Content-Length
	lengths          int    // how many values there are
	differ           bool   // two values are not the same
	codings          []string
	faulty           bool // a transfer coding in HTTP/1.0, which has none
	close, keepAlive bool
}

func (r *reader) framing() (f framing) {
	for _, field := range r.header {
		switch {
		case field.Is("Content-Length"):
			for value := range items(field.Value) { // "6, 6" is 6: RFC 9110 8.6
				if f.lengths++; f.lengths == 1 {
					f.length = value
				}
				f.differ = f.differ || value != f.length
			}
		case field.Is("Transfer-Encoding") && r.minor == 0:
			f.faulty = true
		case field.Is("Transfer-Encoding"):
			for coding := range items(field.Value) {
				f.codings = append(f.codings, strings.ToLower(coding))
			}
		case field.Is("Connection"):
			for option := range items(field.Value) {
				f.close = f.close || strings.EqualFold(option, "close")
				f.keepAlive = f.keepAlive || strings.EqualFold(option, "keep-alive")
			}
		}
	}
	return f
}

// items are those of a field value.
func items(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(value, ",") {
			if !yield(trim(item)) {
				return
			}
		}
	}
}

// frame finds the end of the body: RFC 9112 6.3.
func (r *reader) frame() error {
	f := r.framing()
	r.body, r.length = toEnd{r}, -1
	r.keep = !f.close && (r.minor > 0 || f.keepAlive)
	if f.faulty { // RFC 9112 6.1
		r.odd("Transfer-Encoding in a response of HTTP/1.0: ignored")
	}
	length, err := r.contentLength(f)
	if err != nil {
		return err
	}
	switch {
	case r.noBody:
		r.body, r.length, r.bounded = nothing, length, true
		return nil
	case r.code == 204 || r.code == 304:
		r.body, r.length, r.bounded = nothing, 0, true
		return nil
	case r.IgnoreLength:
		return nil
	}
	codings, err := r.transferCodings(f)
	switch {
	case err != nil:
		return err
	case len(codings) > 0:
		r.endless = false
		return r.chunked(codings)
	case length == 0:
		r.body, r.length, r.bounded = nothing, 0, true
	case length > 0:
		r.body, r.length, r.left, r.bounded = toLength{r}, length, length, true
	}
	return nil
}

// contentLength is -1 where there is none.
func (r *reader) contentLength(f framing) (int64, error) {
	if f.lengths == 0 || r.IgnoreLength {
		return -1, nil
	}
	if !f.differ {
		if n, ok := digits(f.length); ok {
			return n, nil
		}
		if endless(f.length) {
			r.endless = true
			r.odd("Content-Length of more than any object has: the body goes to the end")
			return -1, nil
		}
	}
	return -1, r.deviates("Content-Length that is no number, or another each time: the body goes to the end")
}

// endless reports whether a Content-Length is a number that no object can
// have: some servers say so of a length that they do not know.
func endless(value string) bool {
	_, ok := digits(value)
	return !ok && value != "" && strings.Trim(value, "0123456789") == ""
}

// transferCodings drops what changes nothing: identity, and a coding that is
// named twice.
func (r *reader) transferCodings(f framing) ([]string, error) {
	kept := slices.Compact(slices.DeleteFunc(slices.Clone(f.codings), func(c string) bool { return c == "identity" }))
	chunked := len(kept) == 1 && kept[0] == "chunked"
	switch {
	case len(kept) == len(f.codings):
		if chunked && f.lengths > 0 {
			r.keep = false // RFC 9112 6.3
		}
	case len(kept) > 0 && !(chunked && f.lengths == 0):
		if err := r.deviates("transfer coding that is not chunked alone"); err != nil {
			return nil, err
		}
	default:
		r.odd("transfer coding that is not chunked alone")
	}
	return kept, nil
}

func (r *reader) chunked(codings []string) error {
	n := len(codings) - 1
	if codings[n] != "chunked" {
		return r.deviates("transfer coding that does not end in chunked: the body goes to the end")
	}
	r.bounded = true
	chunks := &chunks{reader: r}
	if r.body = chunks; r.Raw {
		r.body = newRaw(chunks)
		return nil
	}
	if codings = codings[:n]; n == 0 {
		return nil
	}
	if slices.ContainsFunc(codings, func(name string) bool { return name != "gzip" && name != "deflate" }) || n > coding.Max {
		return fetch.Unsupported.Errorf("unknown transfer coding")
	}
	if err := r.deviates("transfer coding besides chunked"); err != nil {
		return err
	}
	r.body = coding.NewReader(io.NopCloser(chunks), codings, r.trace)
	return nil
}

// A toEnd is a body that the end of the connection ends.
type toEnd struct{ *reader }

func (b toEnd) Read(p []byte) (int, error) {
	n, err := b.take(p)
	if err == io.EOF && b.conn.below != nil && b.conn.below.seen() {
		// RFC 9112 9.8: without a close_notify, anybody may have cut it.
		err = fmt.Errorf("TLS connection ended without close_notify: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// A toLength is a body of known length.
type toLength struct{ *reader }

func (b toLength) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.take(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		err = io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
