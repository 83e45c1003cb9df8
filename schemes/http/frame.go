package http

import (
	"fmt"
	"io"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/splice"
)

// frame selects the reader for the response body. The header fields determine
// whether the body ends after Content-Length bytes, after the last chunk, or
// when the server closes the connection.
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

// chunked sets up the decoding of a chunked body. It also decodes other
// transfer codings of the body, such as gzip.
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

// A closeDelimited body ends when the server closes the connection.
type closeDelimited struct{ reader *reader }

// CanReadPipe implements splice.Source.
func (b closeDelimited) CanReadPipe() bool { return splice.CanRead(b.reader.conn.Conn) }

// ReadPipe implements splice.Source. It is not called for TLS connections.
func (b closeDelimited) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	n, err := splice.Read(b.reader.conn.Conn, p, limit)
	return n, b.end(err)
}

func (b closeDelimited) Read(p []byte) (int, error) {
	n, err := b.reader.receive(p)
	if err == io.EOF && b.reader.conn.raw != nil && b.reader.conn.raw.sawEOF() {
		// A body that ends without a TLS close_notify alert may be incomplete
		// (RFC 9112 9.8).
		err = fmt.Errorf("TLS connection ended without close_notify: %w", io.ErrUnexpectedEOF)
	}
	return n, b.end(err)
}

// end returns the error for the end of the body.
func (b closeDelimited) end(err error) error {
	if err == io.EOF && b.reader.strict {
		return fetch.Truncated.Errorf("nothing marks the end of the response: it may be incomplete")
	}
	return err
}

// A lengthDelimited body ends after the number of bytes in Content-Length.
type lengthDelimited struct{ reader *reader }

func (b lengthDelimited) Read(p []byte) (int, error) {
	if b.reader.remaining == 0 {
		return 0, io.EOF
	}
	return b.count(b.reader.receive(p[:min(int64(len(p)), b.reader.remaining)]))
}

// CanReadPipe implements splice.Source.
func (b lengthDelimited) CanReadPipe() bool {
	return b.reader.remaining > 0 && splice.CanRead(b.reader.conn.Conn)
}

// ReadPipe implements splice.Source.
func (b lengthDelimited) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	return b.count(splice.Read(b.reader.conn.Conn, p, int(min(int64(limit), b.reader.remaining))))
}

// count subtracts n, the number of bytes just read, from the remaining bytes.
// It returns the results for Read, with io.EOF after the last byte.
func (b lengthDelimited) count(n int, err error) (int, error) {
	b.reader.remaining -= int64(n)
	switch {
	case b.reader.remaining == 0:
		err = io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
