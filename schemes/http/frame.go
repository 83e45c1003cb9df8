package http

import (
	"fmt"
	"io"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/http1"
)

// frame sets the body of the response according to its head.
func (r *reader) frame() error {
	f, err := http1.Frame(&r.rules, r.status, r.header, r.noBody)
	if err != nil {
		return err
	}
	r.length, r.lengthOverflow, r.keepAlive, r.bounded = f.Length, f.LengthOverflow, f.KeepAlive, f.End != http1.AtClose
	switch f.End {
	case http1.AtHead:
		r.body = emptyBody
	case http1.AtLength:
		r.body, r.remaining = lengthDelimited{r}, f.Length
	case http1.AtChunks:
		return r.chunked(f.Codings)
	default:
		r.body = closeDelimited{r}
	}
	return nil
}

// chunked sets a chunked body and removes its other transfer codings.
func (r *reader) chunked(codings []string) error {
	chunks := &chunked{reader: r, chunks: http1.Chunks{Rules: &r.rules}}
	if r.body = chunks; r.Raw {
		r.body = newRawChunks(chunks)
		return nil
	}
	if len(codings) == 0 {
		return nil
	}
	unknown := func(name string) bool { return name != "gzip" && name != "deflate" }
	if slices.ContainsFunc(codings, unknown) || len(codings) > coding.MaxCodings {
		return fetch.Unsupported.Errorf("unknown transfer coding")
	}
	if err := r.rules.Deviate("transfer coding besides chunked"); err != nil {
		return err
	}
	r.body = coding.NewReader(io.NopCloser(chunks), codings, r.trace)
	return nil
}

// A closeDelimited is a body that ends with the connection.
type closeDelimited struct{ *reader }

func (b closeDelimited) Read(p []byte) (int, error) {
	n, err := b.receive(p)
	if err == io.EOF && b.conn.raw != nil && b.conn.raw.sawEOF() {
		// RFC 9112 9.8: without a close_notify the body may be incomplete.
		err = fmt.Errorf("TLS connection ended without close_notify: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// A lengthDelimited is a body of known length.
type lengthDelimited struct{ *reader }

func (b lengthDelimited) Read(p []byte) (int, error) {
	if b.remaining == 0 {
		return 0, io.EOF
	}
	n, err := b.receive(p[:min(int64(len(p)), b.remaining)])
	b.remaining -= int64(n)
	switch {
	case b.remaining == 0:
		err = io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
