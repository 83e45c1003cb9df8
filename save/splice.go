package save

import (
	"io"
	"os"

	"github.com/anyurl/fetch/internal/wire/splice"
)

// CopyFrom appends the bytes of r to the File until the end of r, like
// io.CopyBuffer. On Linux, it moves the bytes of a large http body from the
// connection to the file without copying them through memory.
func (f *File) CopyFrom(r io.Reader, buffer []byte) (n int64, err error) {
	return splice.Copy(pipeFile{f, &meter{}}, r, buffer)
}

// A pipeFile is a File as a [splice.Target]. It reports the progress after each
// Write.
type pipeFile struct {
	*File
	meter *meter
}

func (f pipeFile) Write(p []byte) (int, error) { return f.update(f.File.Write(p)) }

// CanWritePipe returns true if the next bytes need only be appended to an open
// file, without a digest or a comparison.
func (f pipeFile) CanWritePipe() bool {
	return f.checkOpen() == nil && f.started && f.unnamed == nil && f.keepBytes == 0 && len(f.overlap) == 0 && f.digest == nil && len(f.checks) == 0 && osFile(f.h) != nil
}

// WritePipe moves n bytes from a pipe to the file. Resumable files are not
// written in this way, because they need a digest.
func (f pipeFile) WritePipe(p *splice.Pipe, n int) (int, error) {
	n, err := p.Drain(osFile(f.h), n)
	f.state.Offset += int64(n)
	return f.update(n, f.keepError(err))
}

func (f pipeFile) update(n int, err error) (int, error) {
	if err == nil {
		err = f.meter.update(f.State())
	}
	return n, err
}

// osFile returns the open file of h, or nil if h is not from [System].
func osFile(h Handle) *os.File {
	if h, ok := h.(*handle); ok {
		return h.File
	}
	return nil
}
