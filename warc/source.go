package warc

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
)

const (
	bufferSize  = 64 << 10
	minReadSize = 4 << 10
)

// A source reads an archive file and decompresses it if necessary. Read returns
// io.EOF at the end of each member, which is a gzip member or a zstd frame. The
// buffer never contains text of two members.
type source struct {
	raw   io.Reader
	base  int64 // file offset of the first byte read from raw
	count int64 // bytes read from raw
	in    *bufio.Reader

	compressed bool  // codec is not nil
	codec      codec // nil in an uncompressed file
	gzip       *gzipCodec
	zstd       *zstdCodec
	dictionary func() ([]byte, error) // reads the zstd dictionary of the file, or nil
	form       form                   // format of the records
	start      int64                  // file offset of the current member
	inMember   bool                   // if true, the current member has not ended
	truncated  bool                   // if true, the file ended within a record
	err        error                  // error within the current member, kept because a bufio.Reader reports an error only once

	text *bufio.Reader

	readSize  int   // maximum size of the next read from raw
	processed int64 // bytes read, decompressed and searched for a member
	expanded  int64 // bytes decompressed from the current member
	reread    int64 // bytes read or decompressed more than once
	exhausted bool  // the limit for reading again is reached
}

// Limits for bytes that are read again after damage. The source reads at most
// minReread bytes again, plus rereadFactor times the bytes read once. Without a
// limit, forged record lengths could cause quadratic time.
const (
	minReread    = 16 << 20
	rereadFactor = 4
)

// newSource returns a source that reads from raw. The current position of raw
// is the offset base in the file.
func newSource(raw io.Reader, base int64) *source {
	s := allocateSource(bufferSize)
	s.reset(raw, base, bufferSize)
	return s
}

// allocateSource returns a source with two buffers of the given size.
func allocateSource(size int) *source {
	s := &source{}
	s.in = bufio.NewReaderSize(countingReader{s}, size)
	s.text = bufio.NewReaderSize(s, size)
	return s
}

// reset discards the state of s except its buffers. The source then reads from
// raw, whose current position is the offset base in the file. The first read
// from raw has at most readSize bytes.
func (s *source) reset(raw io.Reader, base int64, readSize int) {
	*s = source{raw: raw, base: base, in: s.in, gzip: s.gzip, zstd: s.zstd, text: s.text, readSize: readSize}
	s.in.Reset(countingReader{s})
	s.text.Reset(s)
	s.setCodec()
}

type countingReader struct{ s *source }

// Read reads small blocks after a seek and then larger blocks. If the file has
// damage at many positions, few buffered bytes are discarded.
func (c countingReader) Read(p []byte) (int, error) {
	s := c.s
	n, err := s.raw.Read(p[:min(len(p), s.readSize)])
	s.readSize = min(2*s.readSize, bufferSize)
	s.count += int64(n)
	s.processed += int64(n)
	return n, err
}

// offset returns the file offset after the bytes consumed so far. In a
// compressed file, the gzip member must be consumed completely.
func (s *source) offset() int64 {
	at := s.base + s.count - int64(s.in.Buffered())
	if !s.compressed {
		at -= int64(s.text.Buffered())
	}
	return at
}

// nextMember opens the next member. It returns io.EOF at the end of the file.
func (s *source) nextMember() error {
	if !s.compressed {
		_, err := s.text.Peek(1)
		s.start = s.offset()
		return err
	}
	s.start, s.inMember, s.expanded, s.err = s.offset(), false, 0, nil
	if err := s.codec.skip(s); err != nil {
		return s.memberError(err)
	}
	start, err := s.in.Peek(len(s.codec.magic()))
	if len(start) == 0 {
		return err
	}
	if !strings.HasPrefix(s.codec.magic(), string(start)) {
		return errNoMember
	}
	if err := s.codec.open(s); err != nil {
		return s.memberError(err)
	}
	s.inMember = true
	s.text.Reset(s)
	return nil
}

// Read reads decompressed bytes of the current member. It returns io.EOF
// at the end of the member.
func (s *source) Read(p []byte) (int, error) {
	if !s.compressed {
		return s.in.Read(p)
	}
	if s.err != nil {
		return 0, s.err
	}
	if !s.inMember {
		return 0, io.EOF
	}
	n, err := s.codec.Read(p)
	s.expanded += int64(n)
	s.processed += int64(n)
	if err == io.EOF {
		s.inMember = false
	} else if err != nil {
		err = s.memberError(err)
		s.err = err
	}
	return n, err
}

// memberError converts an error of the codec. It sets s.truncated if the file
// ended within the member.
func (s *source) memberError(err error) error {
	s.inMember = false
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		s.truncated = true
		return fetch.Truncated.With(io.ErrUnexpectedEOF)
	}
	var fault fetch.Fault
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || !errors.As(err, &fault) {
		return fetch.Mismatch.With(err)
	}
	return err
}

// allowReread adds n to the number of bytes read again. It reports whether this
// number is within the limit.
func (s *source) allowReread(n int64) bool {
	s.exhausted = s.exhausted || s.reread > minReread+rereadFactor*(s.processed-s.reread)
	if !s.exhausted {
		s.reread += n
	}
	return !s.exhausted
}

// seek moves back to an earlier file offset. It returns false if raw cannot
// seek or if the limit for reading again is reached.
func (s *source) seek(offset int64) bool {
	seeker, ok := s.raw.(io.Seeker)
	if !ok || !s.allowReread(s.base+s.count-offset+s.expanded) {
		return false
	}
	position, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return false
	}
	if _, err = seeker.Seek(position+offset-s.base-s.count, io.SeekStart); err != nil {
		return false
	}
	s.count = offset - s.base
	s.in.Reset(countingReader{s})
	s.text.Reset(s)
	s.inMember, s.truncated, s.err, s.readSize = false, false, nil, minReadSize
	return true
}
