package save

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// overlapSize is the number of bytes that a resumed transfer requests again, to
// verify that the object has not changed.
const overlapSize = 4 << 10

// RequestOffset returns the offset from which to request the missing bytes. It
// is usually Offset. If Options.Weak is set, it may be less than Offset, so
// that the server repeats some bytes.
func (s State) RequestOffset() int64 {
	if s.weak && s.Validator != "" && s.Offset > overlapSize {
		return s.Offset - overlapSize
	}
	return s.Offset
}

// readOverlap reads the part file from the given offset to its end. The bytes
// are later compared with the start of the next body.
func (f *File) readOverlap(offset int64) error {
	f.overlap = nil
	if offset == f.state.Offset {
		return nil
	}
	f.overlap = make([]byte, f.state.Offset-offset)
	_, err := f.h.Seek(offset, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(f.h, f.overlap) // the file position is now at the end of the part file
	}
	return f.keepError(err)
}

// checkOverlap compares p with the last bytes of the part file. It returns the
// number of compared bytes. If they differ, the object has changed, and
// checkOverlap discards the bytes in the File.
func (f *File) checkOverlap(p []byte) (int, error) {
	n := min(len(p), len(f.overlap))
	if !bytes.Equal(p[:n], f.overlap[:n]) {
		had := f.state
		if err := f.restart(State{Size: -1}); err != nil {
			return 0, err
		}
		return 0, fetch.Mismatch.Errorf("%s has changed since its first %d bytes were saved", had.URL, had.Offset)
	}
	f.overlap = f.overlap[n:]
	return n, nil
}
