package http

import (
	"fmt"
	"io"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/http1"
)

// frame makes the body that the head announces.
func (r *reader) frame() error {
	f, err := http1.Frame(&r.rules, r.status, r.header, r.noBody)
	if err != nil {
		return err
	}
	r.length, r.endless, r.keep, r.bounded = f.Length, f.Endless, f.KeepAlive, f.End != http1.AtClose
	switch f.End {
	case http1.AtHead:
		r.body = nothing
	case http1.AtLength:
		r.body, r.left = toLength{r}, f.Length
	case http1.AtChunks:
		return r.chunked(f.Codings)
	default:
		r.body = toEnd{r}
	}
	return nil
}

// chunked makes a chunked body and removes the transfer codings below.
func (r *reader) chunked(codings []string) error {
	chunks := &chunked{reader: r, chunks: http1.Chunks{Rules: &r.rules}}
	if r.body = chunks; r.Raw {
		r.body = newRaw(chunks)
		return nil
	}
	if len(codings) == 0 {
		return nil
	}
	if slices.ContainsFunc(codings, func(name string) bool { return name != "gzip" && name != "deflate" }) || len(codings) > coding.Max {
		return fetch.Unsupported.Errorf("unknown transfer coding")
	}
	if err := r.rules.Deviate("transfer coding besides chunked"); err != nil {
		return err
	}
	r.body = coding.NewReader(io.NopCloser(chunks), codings, r.trace)
	return nil
}

// A toEnd is a body that ends with the connection.
type toEnd struct{ *reader }

func (b toEnd) Read(p []byte) (int, error) {
	n, err := b.receive(p)
	if err == io.EOF && b.conn.below != nil && b.conn.below.seen() {
		// RFC 9112 9.8: without a close_notify the body may be incomplete.
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
	n, err := b.receive(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		err = io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
