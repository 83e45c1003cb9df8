package localfile

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// A source is an open file that is closed when the context of the request is
// done. Closing the file interrupts blocked reads.
type source struct {
	file   *os.File
	ctx    context.Context
	stop   func() bool // stops the callback that closes file when ctx is done
	done   func()      // called once by Close, or nil
	closed atomic.Bool
}

func newSource(ctx context.Context, f *os.File) *source {
	return &source{file: f, ctx: ctx, stop: context.AfterFunc(ctx, func() { f.Close() })}
}

// Close closes the file. It may be called more than once and concurrently with
// Read. It always returns nil, because the file is open for reading only.
func (s *source) Close() error {
	again := s.closed.Swap(true)
	s.stop()
	s.file.Close()
	if !again && s.done != nil {
		s.done()
	}
	return nil
}

// readable returns an error if the file is closed or the context of the request
// is done.
func (s *source) readable() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if s.closed.Load() {
		return fault(fs.ErrClosed)
	}
	return nil
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.readable(); err != nil {
		return 0, err
	}
	n, err := s.file.Read(p)
	if err != nil && err != io.EOF {
		err = s.wrapError(err)
	}
	return n, err
}

// wrapError adds a [fetch.Fault] to an error of the file system. If the context
// is done, it returns the cause of the context instead.
func (s *source) wrapError(err error) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return fault(err)
}

// checkUnchanged returns an error if the current size or modification time of
// the file differs from info.
func (s *source) checkUnchanged(info fs.FileInfo) error {
	now, err := s.file.Stat()
	if err != nil {
		return s.wrapError(err)
	}
	if now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return fetch.Truncated.Errorf("file changed during the read")
	}
	return nil
}

// A content reads a range of bytes of a regular file.
type content struct {
	*source
	remaining int64       // bytes left to read
	info      fs.FileInfo // metadata at the time of opening
	err       error       // returned by all later reads
}

// Read reads the next bytes of the range. It returns io.EOF or an error
// together with the last bytes, because a caller that counts bytes does not
// call Read again after the last byte.
func (c *content) Read(p []byte) (n int, err error) {
	if c.err != nil || len(p) == 0 {
		return 0, c.err
	}
	if c.remaining > 0 {
		n, c.err = c.source.Read(p[:min(int64(len(p)), c.remaining)])
		c.remaining -= int64(n)
	}
	switch {
	case c.err == io.EOF:
		c.err = fetch.Truncated.Errorf("file was truncated during the read: %w", io.ErrUnexpectedEOF)
	case c.err == nil && c.remaining == 0:
		if c.err = c.checkUnchanged(c.info); c.err == nil {
			c.err = io.EOF
		}
	}
	return n, c.err
}

// A body is a response body that reads from Reader, such as a buffer or an
// encoded listing. Closing the body closes the file.
type body struct {
	io.Reader
	*source
}

func (b body) Read(p []byte) (int, error) {
	if err := b.readable(); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

// A limitedReader is a reader that returns an error if its input is longer than
// a limit.
type limitedReader struct {
	io.Reader
	remaining int64
}

func (b *limitedReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		return 0, fetch.TooLarge.Errorf("file of unknown length exceeds %d bytes", maxUnsized)
	}
	return n, err
}
