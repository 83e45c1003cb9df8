package warc

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
)

// A codec decompresses the members of a file. A member is a gzip member or a
// zstd frame.
type codec interface {
	// magic returns the bytes at the start of each member.
	magic() string

	// skip skips parts of the file that contain no records. It sets s.start to
	// the position after them.
	skip(s *source) error

	// open starts to read the member at the current position of s.in.
	open(s *source) error

	// Read returns decompressed bytes of the member, and io.EOF after the last one.
	Read(p []byte) (int, error)

	// probe examines a part of the file that begins with magic. It reports
	// whether a record may start there. The result n is the number of bytes
	// that probe has processed.
	probe(s *source, window []byte) (n int64, ok bool)
}

const gzipMagic = "\x1f\x8b"

// setCodec selects the codec for the bytes at the current position.
func (s *source) setCodec() {
	switch start, _ := s.in.Peek(4); {
	case bytes.HasPrefix(start, []byte(gzipMagic)):
		if s.gzip == nil {
			s.gzip = &gzipCodec{}
		}
		s.codec = s.gzip
	case string(start) == zstdMagic || isSkippable(start):
		if s.zstd == nil {
			s.zstd = &zstdCodec{}
		}
		s.zstd.dictionary = nil
		s.codec = s.zstd
	}
	s.compressed = s.codec != nil
}

// A gzipCodec is the codec of gzip (RFC 1952).
type gzipCodec struct{ in gzip.Reader }

func (g *gzipCodec) magic() string              { return gzipMagic }
func (g *gzipCodec) skip(*source) error         { return nil }
func (g *gzipCodec) Read(p []byte) (int, error) { return g.in.Read(p) }

func (g *gzipCodec) open(s *source) error {
	err := g.in.Reset(s.in)
	g.in.Multistream(false)
	return err
}

func (g *gzipCodec) probe(s *source, window []byte) (n int64, ok bool) {
	size := len(magic)
	if s.form != formWARC {
		size = maxARCLine
	}
	text := make([]byte, size)
	in := bytes.NewReader(window)
	var probe gzip.Reader
	if probe.Reset(in) == nil {
		size, _ = io.ReadFull(&probe, text)
		n = int64(size)
		ok = s.form.starts(text[:size])
	}
	return n + int64(len(window)-in.Len()), ok
}

// findMember skips bytes until the start of a member in which a record starts.
// It returns false if the file ends first.
func (s *source) findMember() bool {
	for {
		window, err := s.in.Peek(4 << 10)
		at := bytes.Index(window, []byte(s.codec.magic()))
		if at < 0 {
			if err != nil {
				return false
			}
			s.in.Discard(len(window) - len(s.codec.magic()) + 1)
			continue
		}
		if at > 0 {
			s.in.Discard(at)
			continue
		}
		n, ok := s.codec.probe(s, window)
		if ok {
			return true
		}
		if s.processed += n; !s.allowReread(n) {
			return false
		}
		s.in.Discard(1)
	}
}

// A form is the format of the records in a file.
type form uint8

const (
	formUnknown form = iota // no record was read yet
	formWARC
	formARC
)

// starts reports whether text begins with the header of a record.
func (f form) starts(text []byte) bool {
	if f != formARC && bytes.HasPrefix(text, []byte(magic)) {
		return true
	}
	if f == formWARC || len(text) == 0 || !isLetter(text[0]) {
		return false
	}
	line, _, ok := bytes.Cut(text[:min(len(text), maxARCLine)], []byte("\n"))
	if !ok {
		return false
	}
	h, ok := parseARC(string(line))
	return ok && h.length >= 0
}

// atRecord reports whether the next bytes of the text are the header of a
// record.
func (s *source) atRecord() bool {
	start, _ := s.text.Peek(len(magic))
	if s.form != formWARC && len(start) > 0 && isLetter(start[0]) {
		start, _ = s.text.Peek(maxARCLine)
	}
	return s.form.starts(start)
}

// findRecord skips bytes until the start of the next record. It returns false
// if the file ends first.
func (s *source) findRecord() bool {
	if s.compressed {
		return s.findMember()
	}
	for !s.atRecord() {
		if s.skipLine() != nil {
			return false
		}
	}
	return true
}

// skipLine skips the text until the next line.
func (s *source) skipLine() error {
	for {
		if _, err := s.text.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return err
		}
	}
}

// magic is the text at the start of each WARC record (WARC 1.1 section 4).
const magic = "WARC/"

var errNoMember = fetch.Mismatch.Errorf("the following bytes are not a compressed record")
