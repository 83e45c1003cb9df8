package file

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// A source is an open file that ends with its request: what waits in a read
// is woken.
type source struct {
	file   *os.File
	ctx    context.Context
	stop   func() bool // ends the watch on ctx
	closed atomic.Bool
}

func hold(ctx context.Context, f *os.File) *source {
	return &source{file: f, ctx: ctx, stop: context.AfterFunc(ctx, func() { f.Close() })}
}

// Close may be called again, and beside Read. Nothing was written, so there
// is no error.
func (s *source) Close() error {
	s.closed.Store(true)
	s.stop()
	s.file.Close()
	return nil
}

// ended says why there is nothing more to read.
func (s *source) ended() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if s.closed.Load() {
		return fault(fs.ErrClosed)
	}
	return nil
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ended(); err != nil {
		return 0, err
	}
	n, err := s.file.Read(p)
	if err != nil && err != io.EOF {
		err = s.fail(err)
	}
	return n, err
}

// fail classes an error. What broke because ctx ended is the error of ctx.
func (s *source) fail(err error) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return fault(err)
}

// changed is an error where the file is no longer what info says.
func (s *source) changed(info fs.FileInfo) error {
	now, err := s.file.Stat()
	if err != nil {
		return s.fail(err)
	}
	if now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return fetch.Truncated.Errorf("file changed while it was read")
	}
	return nil
}

// content is a part of a regular file.
type content struct {
	*source
	left int64       // bytes due
	info fs.FileInfo // of the file when it was opened
	err  error       // sticky
}

// Read gives the end, or its absence, together with the last bytes: a reader
// that counts would not come back for it.
func (c *content) Read(p []byte) (n int, err error) {
	if c.err != nil || len(p) == 0 {
		return 0, c.err
	}
	if c.left > 0 {
		n, c.err = c.source.Read(p[:min(int64(len(p)), c.left)])
		c.left -= int64(n)
	}
	switch {
	case c.err == io.EOF:
		c.err = fetch.Truncated.Errorf("file became shorter while it was read: %w", io.ErrUnexpectedEOF)
	case c.err == nil && c.left == 0:
		if c.err = c.changed(c.info); c.err == nil {
			c.err = io.EOF
		}
	}
	return n, c.err
}

// body gives what was read ahead, as long as source lives.
type body struct {
	io.Reader
	*source
}

func (b body) Read(p []byte) (int, error) {
	if err := b.ended(); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

// bounded fails where its source goes on beyond left bytes.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fetch.TooLarge.Errorf("file of unknown length goes on beyond %d bytes", maxMade)
	}
	return n, err
}
