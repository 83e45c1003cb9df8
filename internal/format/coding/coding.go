// Package coding decodes the content codings of HTTP bodies, such as gzip (RFC
// 9110 section 8.4). Parse parses Content-Encoding fields, NewReader decodes a
// body, and Decode decodes the body of a response.
package coding

import (
	"bufio"
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/line"
)

// Supported is the value of an Accept-Encoding field that lists all supported
// content codings.
const Supported = "gzip, deflate, br, zstd"

// MaxCodings is the maximum number of content codings that may be applied to a
// body.
const MaxCodings = 2

// These limits detect decompression bombs. A body is rejected if it expands by
// more than maxRatio after the first freeRatio bytes.
const (
	maxRatio   = 100
	freeRatio  = 10 << 20
	zstdMemory = 16 << 20 // RFC 9659 allows windows of 8 MiB
)

// Parse parses the values of Content-Encoding fields and returns the codings in
// the order in which they were applied. The error has the fault
// fetch.Unsupported for an unsupported coding, and fetch.Bomb for more than
// MaxCodings codings.
func Parse(values []string) (list []string, err error) {
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name := strings.TrimPrefix(strings.ToLower(strings.Trim(item, " \t")), "x-")
			switch name {
			case "", "identity", "none": // some servers send "none" instead of "identity"
				continue
			case "gzip", "deflate", "br", "zstd":
				list = append(list, name)
			default:
				return nil, fetch.Unsupported.Errorf("unknown content coding")
			}
			if len(list) > MaxCodings {
				return nil, fetch.Bomb.Errorf("more than %d content codings", MaxCodings)
			}
		}
	}
	return list, nil
}

// Decode removes the content codings from the body of resp. It reports whether
// the body had codings. A decoded body has an unknown size and no validator,
// because the transfer cannot be resumed. t may be nil. Decode returns the error
// of [Parse].
func Decode(resp *fetch.Response, t *trace.Trace) (decoded bool, err error) {
	list, err := Parse(resp.Header.Values("Content-Encoding"))
	if err != nil || len(list) == 0 {
		return false, err
	}
	resp.Body, resp.Size, resp.Validator = NewReader(resp.Body, list, t), -1, ""
	return true, nil
}

// A reader decodes a body and implements io.ReadCloser.
type reader struct {
	wire *meter
	top  io.Reader
	err  error
}

// A meter counts the bytes that are read from an encoded body. It also stores
// the last read error.
type meter struct {
	io.ReadCloser
	n   int64
	err error
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.n += int64(n)
	if err != nil {
		m.err = err
	}
	return n, err
}

// NewReader returns a reader that decodes body. The codings in list are in the
// order in which they were applied. The reader returns io.EOF only after body
// has returned io.EOF and the content is complete. NewReader does not read from
// body before the first Read. Close closes body. t may be nil.
//
// The fault of an error is fetch.Protocol for corrupt data, fetch.Truncated for
// truncated data, and fetch.Bomb for data that expands beyond the limit.
func NewReader(body io.ReadCloser, list []string, t *trace.Trace) io.ReadCloser {
	d := &reader{wire: &meter{ReadCloser: body}}
	d.top = d.wire
	for _, name := range slices.Backward(list) {
		d.top = &layer{name: name, wire: d.wire, below: bufio.NewReaderSize(d.top, 32<<10), trace: t}
	}
	return d
}

func (d *reader) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.top.Read(p)
	switch {
	case err == io.EOF:
		err = d.finish()
	case err != nil:
		err = d.fault(err)
	}
	d.err = err
	return n, err
}

// finish reads the remaining bytes of the encoded body. Without this step, a
// truncated body could remain undetected.
func (d *reader) finish() error {
	if _, err := io.CopyN(io.Discard, d.wire, freeRatio); err != io.EOF {
		if err == nil {
			err = fetch.Protocol.Errorf("data after the end of the content coding")
		}
		return err
	}
	return io.EOF
}

// fault selects the error that Read returns after decoding failed. If the body
// returned a read error, fault returns the read error, because it may have
// caused the error of the decoder.
func (d *reader) fault(err error) error {
	switch {
	case d.wire.err != nil && d.wire.err != io.EOF:
		return d.wire.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("content coding is truncated: %w", io.ErrUnexpectedEOF)
	case fetch.FaultOf(err) != fetch.Internal:
		return err
	}
	return fetch.Protocol.Errorf("corrupt content coding: %w", err)
}

// Close closes the encoded body. The decoders need not be closed.
func (d *reader) Close() error { return d.wire.Close() }

// A layer decodes one content coding of a body. It reads the header of the
// coding at the first Read.
type layer struct {
	name  string
	wire  *meter
	below *bufio.Reader
	trace *trace.Trace
	from  io.Reader
	gzip  *member // nil for other codings
	out   int64
}

func (l *layer) Read(p []byte) (int, error) {
	if l.from == nil {
		if _, err := l.below.Peek(1); err != nil {
			return 0, err // an empty body is valid in every coding
		}
		if err := l.open(); err != nil {
			return 0, line.UnexpectedEOF(err)
		}
	}
	n, err := l.from.Read(p)
	for n == 0 && err == io.EOF && l.gzip != nil {
		if err = l.nextMember(); err != nil {
			return 0, err
		}
		n, err = l.from.Read(p)
	}
	if n > 0 && err == io.EOF {
		err = nil
	}
	if l.out += int64(n); l.out > freeRatio && l.out/maxRatio > l.wire.n {
		return n, fetch.Bomb.Errorf("body of %d bytes expands by more than a factor of %d", l.wire.n, maxRatio)
	}
	return n, err
}

func (l *layer) open() (err error) {
	switch l.name {
	case "gzip":
		l.gzip = &member{in: l.below}
		l.from = l.gzip
		err = l.gzip.next()
	case "deflate":
		l.from, err = l.inflate()
	case "br":
		l.from = brotli.NewReader(l.below)
	case "zstd":
		var z *zstd.Decoder
		// A zstd decoder with a concurrency of 1 starts no goroutines. It need
		// not be closed.
		z, err = zstd.NewReader(l.below, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(zstdMemory), zstd.WithDecoderMaxWindow(8<<20))
		if err == nil {
			l.from = z
		}
	}
	return err
}

// inflate returns a decoder for a body with the content coding deflate. Such a
// body is zlib data (RFC 9110 section 8.4.1.2), but many servers send raw
// deflate data. inflate recognizes zlib data by its header checksum (RFC 1950
// section 2.2).
func (l *layer) inflate() (io.Reader, error) {
	head, _ := l.below.Peek(2)
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(l.below)
	}
	l.trace.Notef("deflate body has no zlib header")
	return flate.NewReader(l.below), nil
}

// nextMember starts to decode the next gzip member (RFC 1952 section 2.2). If
// other data follows the last member, nextMember ignores the data, as browsers
// do.
func (l *layer) nextMember() error {
	head, err := l.below.Peek(2)
	switch {
	case len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b:
		return l.gzip.next()
	case len(head) > 0:
		l.trace.Notef("ignored data after the end of a gzip body")
		return io.EOF
	}
	return err
}
