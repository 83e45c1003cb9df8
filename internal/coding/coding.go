// Package coding takes content codings off a body: RFC 9110 8.4. Of reads how it
// is coded, NewReader reads what it was before.
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
)

// Known are the codings that can be taken off, as Accept-Encoding has them.
const Supported = "gzip, deflate, br, zstd"

// Max is how many codings a body may have.
const MaxCodings = 2

// Limits of decoding. What expands by more than maxRatio, after the first
// freeRatio bytes, is a bomb.
const (
	maxRatio   = 100
	freeRatio  = 10 << 20
	zstdMemory = 16 << 20 // RFC 9659 allows windows of 8 MiB
)

// Of lists the codings that the values of Content-Encoding name, in the order in
// which they were applied. One that is not Known is fetch.Unsupported, more than
// Max are fetch.Bomb.
func Parse(values []string) (list []string, err error) {
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name := strings.TrimPrefix(strings.ToLower(strings.Trim(item, " \t")), "x-")
			switch name {
			case "", "identity", "none": // the last is what some servers call it
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

// A reader is a body whose codings are taken off.
type reader struct {
	wire *meter
	top  io.Reader
	err  error
}

// meter counts the bytes that came, and keeps the error that ended them.
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

// NewReader takes the codings of list off body. It ends where the last coding
// ends and body has proved that it is whole; its Close is that of body. What is
// no such coding is fetch.Protocol, what is cut fetch.Truncated, what expands
// beyond measure fetch.Bomb. Nothing is read before the first Read. t may be nil.
func NewReader(body io.ReadCloser, list []string, t *fetch.Trace) io.ReadCloser {
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

// finish reads the wire to its end, which alone proves that it was whole.
func (d *reader) finish() error {
	if _, err := io.CopyN(io.Discard, d.wire, freeRatio); err != io.EOF {
		if err == nil {
			err = fetch.Protocol.Errorf("body goes on behind the end of its coding")
		}
		return err
	}
	return io.EOF
}

// fault prefers what broke the wire to what the codings make of it.
func (d *reader) fault(err error) error {
	switch {
	case d.wire.err != nil && d.wire.err != io.EOF:
		return d.wire.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("body ended within its coding: %w", io.ErrUnexpectedEOF)
	case fetch.FaultOf(err) != fetch.Internal:
		return err
	}
	return fetch.Protocol.Errorf("corrupt body: %w", err)
}

// Close ends the transfer. The codings hold nothing but memory.
func (d *reader) Close() error { return d.wire.Close() }

// A layer takes one coding off. It looks at the first bytes when the first
// Read wants them.
type layer struct {
	name  string
	wire  *meter
	below *bufio.Reader
	trace *fetch.Trace
	from  io.Reader
	gzip  *member // nil: another coding
	out   int64
}

func (l *layer) Read(p []byte) (int, error) {
	if l.from == nil {
		if _, err := l.below.Peek(1); err != nil {
			return 0, err // an empty body is empty in every coding
		}
		if err := l.open(); err != nil {
			return 0, noEOF(err)
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
		return n, fetch.Bomb.Errorf("body of %d bytes decodes to more than %d times that", l.wire.n, maxRatio)
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
		// Of concurrency 1 it starts no goroutine, so nothing need close it.
		z, err = zstd.NewReader(l.below, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(zstdMemory), zstd.WithDecoderMaxWindow(8<<20))
		if err == nil {
			l.from = z
		}
	}
	return err
}

// inflate reads zlib, as RFC 9110 8.4.1.2 means, or the bare stream that many
// servers send: the check of RFC 1950 2.2 tells them apart.
func (l *layer) inflate() (io.Reader, error) {
	head, _ := l.below.Peek(2)
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(l.below)
	}
	l.trace.Notef("deflate without its zlib head")
	return flate.NewReader(l.below), nil
}

// nextMember goes on to the next gzip member (RFC 1952 2.2). What follows the
// last and is none is passed over, as browsers do.
func (l *layer) nextMember() error {
	head, err := l.below.Peek(2)
	switch {
	case len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b:
		return l.gzip.next()
	case len(head) > 0:
		l.trace.Notef("bytes that are no gzip after the end of a gzip body")
		return io.EOF
	}
	return err
}

// noEOF keeps the end of the wire from passing for that of the object.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
