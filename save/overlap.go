package save

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// overlap is how many bytes are asked for again where they are to prove that
// the rest belongs to them.
const overlap = 4 << 10

// Rest returns the first byte to request of the rest of the object. It is
// Offset, or a little less under Options.Weak.
func (s State) Rest() int64 {
	if s.weak && s.Validator != "" && s.Offset > overlap {
		return s.Offset - overlap
	}
	return s.Offset
}

// expect has the next bytes compared with those that f has from first on.
func (f *File) expect(first int64) error {
	f.tail = nil
	if first == f.state.Offset {
		return nil
	}
	f.tail = make([]byte, f.state.Offset-first)
	_, err := f.h.Seek(first, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(f.h, f.tail) // up to where the next byte goes
	}
	return f.fail(err)
}

// repeated tells how many of the first bytes of p f has already. Where they
// differ it is of another version, and f starts over.
func (f *File) repeated(p []byte) (int, error) {
	n := min(len(p), len(f.tail))
	if !bytes.Equal(p[:n], f.tail[:n]) {
		had := f.state
		if err := f.start(State{Size: -1}); err != nil {
			return 0, err
		}
		return 0, fetch.Mismatch.Errorf("%s is not what it was when its first %d bytes were saved", had.URL, had.Offset)
	}
	f.tail = f.tail[n:]
	return n, nil
}
