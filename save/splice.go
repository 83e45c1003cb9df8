package save

import (
	"os"

	"github.com/anyurl/fetch/internal/wire/splice"
)

// CanWritePipe implements the interface Target of package internal/wire/splice. It
// returns true if the next bytes need only be appended to an open file, without
// a digest or a comparison.
func (f *File) CanWritePipe() bool {
	return f.checkOpen() == nil && f.started && f.unnamed == nil && f.keepBytes == 0 && len(f.overlap) == 0 && f.digest == nil && osFile(f.h) != nil
}

// WritePipe is like Write, but moves n bytes from a pipe to the file. Resumable
// files are not written in this way, because they need a digest.
func (f *File) WritePipe(p *splice.Pipe, n int) (int, error) {
	n, err := p.Drain(osFile(f.h), n)
	f.state.Offset += int64(n)
	return n, f.keepError(err)
}

// osFile returns the open file of h, or nil if h is not from [System].
func osFile(h Handle) *os.File {
	if h, ok := h.(*handle); ok {
		return h.File
	}
	return nil
}
