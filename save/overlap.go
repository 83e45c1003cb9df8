package save

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// overlap is how many bytes are asked for again where they are to prove that
// the rest belongs to them.
const overlapSize = 4 << 10

// Rest returns the first byte to request of the rest of the object. It is
// Offset, or a little less under Options.Weak.
func (s State) RequestOffset() int64 {
	if s.weak && s.Validator != "" && s.Offset > overlapSize {
		return s.Offset - overlapSize
	}
	return s.Offset
}

// expect has the next bytes compared with those that f has from first on.
func (f *File) readOverlap(first int64) error {
	f.overlap = nil
	if first == f.state.Offset {
		return nil
	}
	f.overlap = make([]byte, f.state.Offset-first)
	_, err := f.h.Seek(first, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(f.h, f.overlap) // up to where the next byte goes
	}
	return f.keepError(err)
}

// repeated tells how many of the first bytes of p f has already. Where they
// differ it is of another version, and f starts over.
func (f *File) checkOverlap(p []byte) (int, error) {
	n := min(len(p), len(f.overlap))
	if !bytes.Equal(p[:n], f.overlap[:n]) {
		had := f.state
		if err := f.restart(State{Size: -1}); err != nil {
			return 0, err
		}
		return 0, fetch.Mismatch.Errorf("%s is not what it was when its first %d bytes were saved", had.URL, had.Offset)
	}
	f.overlap = f.overlap[n:]
	return n, nil
}
