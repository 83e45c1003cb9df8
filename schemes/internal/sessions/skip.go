package sessions

import (
	"io"
	"sync/atomic"
)

// A Skip counts the bytes that a body discards, such as those before a range. A
// body that embeds a Skip has the method Skipped, from which the Client sees that
// the server sends bytes although no Read returns. The zero value is ready to use.
type Skip struct{ n atomic.Int64 }

// Discard reads n bytes from r and discards them. It returns their number. If r
// has fewer bytes, the error is io.EOF.
func (s *Skip) Discard(r io.Reader, n int64) (int64, error) {
	return io.CopyN(skipWriter{&s.n}, r, n)
}

// Skipped returns the number of bytes that Discard has read so far. It may be
// called during a call of Discard.
func (s *Skip) Skipped() int64 { return s.n.Load() }

type skipWriter struct{ n *atomic.Int64 }

func (w skipWriter) Write(p []byte) (int, error) {
	w.n.Add(int64(len(p)))
	return len(p), nil
}
