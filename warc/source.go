package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
)

const (
	bufferSize = 64 << 10
	minAhead   = 4 << 10
)

// source is the text of an archive: of gzip members one after the other, or as
// it stands in the file. Text ends with io.EOF at the end of each member, so
// that no buffer ever holds the text of two.
type source struct {
	raw   io.Reader
	base  int64 // offset in the file of the first byte of raw
	count int64 // bytes taken from raw
	in    *bufio.Reader

	packed bool // as the first bytes said
	gzip   *gzip.Reader
	start  int64 // offset of the member that was begun last
	inside bool  // its end was not reached
	cut    bool  // the file has ended inside of it
	err    error // that ended it early: bufio forgets it when it is looked at

	text *bufio.Reader

	ahead    int   // what is taken from raw at a time
	worked   int64 // bytes taken from raw, unpacked or looked at for a member
	unpacked int64 // of these, those of the member
	again    int64 // of these, those that were read for nothing
	spent    bool  // nothing more is read again
}

// What is read again behind damage is bounded, in bytes: by a constant, and by
// what was read once. Else a record could be read as often as others before it
// claim to contain it.
const (
	minAgain = 16 << 20
	maxAgain = 4
)

// newSource begins at offset base of the file, where raw stands.
func newSource(raw io.Reader, base int64) *source {
	s := &source{raw: raw, base: base, ahead: bufferSize}
	s.in = bufio.NewReaderSize(counted{s}, bufferSize)
	s.text = bufio.NewReaderSize(s, bufferSize)
	magic, _ := s.in.Peek(len(gzipMagic))
	s.packed = bytes.Equal(magic, gzipMagic)
	return s
}

var gzipMagic = []byte{0x1f, 0x8b}

type counted struct{ s *source }

// Read reads little behind a seek, and then more and more: damage may follow
// damage, and what was read ahead is lost then.
func (c counted) Read(p []byte) (int, error) {
	s := c.s
	n, err := s.raw.Read(p[:min(len(p), s.ahead)])
	s.ahead = min(2*s.ahead, bufferSize)
	s.count += int64(n)
	s.worked += int64(n)
	return n, err
}

// offset is that of the first byte in the file which was not read: behind the
// members read so far, or behind the text where nothing is packed.
func (s *source) offset() int64 {
	at := s.base + s.count - int64(s.in.Buffered())
	if !s.packed {
		at -= int64(s.text.Buffered())
	}
	return at
}

var errNoMember = fetch.Mismatch.Errorf("what follows is no gzip member")

// next begins the next member; io.EOF says that there is none.
func (s *source) next() error {
	if !s.packed {
		_, err := s.text.Peek(1)
		s.start = s.offset()
		return err
	}
	s.start, s.inside, s.unpacked, s.err = s.offset(), false, 0, nil
	magic, err := s.in.Peek(len(gzipMagic))
	switch {
	case len(magic) == 0:
		return err
	case !bytes.HasPrefix(gzipMagic, magic):
		return errNoMember
	case s.gzip == nil:
		s.gzip, err = gzip.NewReader(s.in)
	default:
		err = s.gzip.Reset(s.in)
	}
	if err != nil {
		return s.broken(err)
	}
	s.gzip.Multistream(false)
	s.inside = true
	s.text.Reset(s)
	return nil
}

// Read reads text, for s.text.
func (s *source) Read(p []byte) (int, error) {
	if !s.packed {
		return s.in.Read(p)
	}
	if s.err != nil {
		return 0, s.err
	}
	if !s.inside {
		return 0, io.EOF
	}
	n, err := s.gzip.Read(p)
	s.unpacked += int64(n)
	s.worked += int64(n)
	if err == io.EOF {
		s.inside = false
	} else if err != nil {
		err = s.broken(err)
		s.err = err
	}
	return n, err
}

// broken classes an error of gzip, and notes where it is that the file ends.
func (s *source) broken(err error) error {
	s.inside = false
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		s.cut = true
		return fetch.Truncated.With(io.ErrUnexpectedEOF)
	}
	var fault fetch.Fault
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || !errors.As(err, &fault) {
		return fetch.Mismatch.With(err)
	}
	return err
}

// waste notes that n bytes were read for nothing, and reports whether more may
// be.
func (s *source) waste(n int64) bool {
	s.spent = s.spent || s.again > minAgain+maxAgain*(s.worked-s.again)
	if !s.spent {
		s.again += n
	}
	return !s.spent
}

// seek goes back to offset at, where raw can be sought and not too much was read
// again already.
func (s *source) seek(at int64) bool {
	seeker, ok := s.raw.(io.Seeker)
	if !ok || !s.waste(s.base+s.count-at+s.unpacked) {
		return false
	}
	now, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return false
	}
	if _, err = seeker.Seek(now+at-s.base-s.count, io.SeekStart); err != nil {
		return false
	}
	s.count = at - s.base
	s.in.Reset(counted{s})
	s.text.Reset(s)
	s.inside, s.cut, s.err, s.ahead = false, false, nil, minAhead
	return true
}

// find goes to the next place at or behind the present one where a record
// begins, and reports whether there is one.
func (s *source) find() bool {
	if s.packed {
		return s.findMember()
	}
	for {
		line, err := s.text.Peek(len(magic))
		if string(line) == magic {
			return true
		}
		for more := err == nil; more; { // a line
			_, err = s.text.ReadSlice('\n')
			more = err == bufio.ErrBufferFull
		}
		if err != nil {
			return false
		}
	}
}

// magic begins each record of all versions (WARC 1.1 section 4).
const magic = "WARC/"

func (s *source) findMember() bool {
	var probe gzip.Reader
	for {
		window, err := s.in.Peek(4 << 10)
		at := bytes.Index(window, gzipMagic)
		if at < 0 {
			if err != nil {
				return false
			}
			s.in.Discard(len(window) - 1)
			continue
		}
		if at > 0 {
			s.in.Discard(at)
			continue
		}
		begin := make([]byte, len(magic))
		looked := bytes.NewReader(window)
		if probe.Reset(looked) == nil {
			if n, _ := io.ReadFull(&probe, begin); string(begin[:n]) == magic {
				return true
			}
		}
		n := int64(len(window) - looked.Len())
		if s.worked += n; !s.waste(n) {
			return false
		}
		s.in.Discard(1)
	}
}
