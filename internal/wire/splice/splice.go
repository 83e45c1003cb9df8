// Package splice moves the bytes of large bodies from connections to files
// without copying them through the memory of the process. It uses the system
// call splice(2) of Linux. On other systems, bytes are copied.
package splice

import "io"

// A Source is a stream that can write its next bytes to a Pipe.
type Source interface {
	// CanReadPipe reports whether ReadPipe can be used for the next bytes.
	// Otherwise they must be read with the method Read.
	CanReadPipe() bool

	// ReadPipe is like the method Read of an io.Reader, but writes up to limit
	// bytes to an empty Pipe. It is called only if CanReadPipe returns true.
	ReadPipe(p *Pipe, limit int) (int, error)
}

// A Target is a file that can receive bytes from a Pipe.
type Target interface {
	// CanWritePipe reports whether WritePipe can be used for the next bytes.
	CanWritePipe() bool

	// WritePipe is like the method Write of an io.Writer, but writes the n bytes
	// of a Pipe.
	WritePipe(p *Pipe, n int) (int, error)
}

// CanRead reports whether r is a Source whose next bytes can be written to a
// Pipe.
func CanRead(r io.Reader) bool {
	s, ok := r.(Source)
	return ok && s.CanReadPipe()
}

// Read calls the method ReadPipe of r, for which CanRead must return true.
func Read(r io.Reader, p *Pipe, limit int) (int, error) { return r.(Source).ReadPipe(p, limit) }

// largeBody is the number of bytes that Copy copies before it opens a Pipe.
// Opening a Pipe takes longer than copying a small body.
const largeBody = 128 << 10

// Copy is like io.CopyBuffer, but moves bytes through a Pipe if dst is a Target,
// src is a Source, and the body is large. It ignores the methods ReadFrom and WriteTo.
func Copy(dst io.Writer, src io.Reader, buffer []byte) (written int64, err error) {
	target, _ := dst.(Target)
	var pipe *Pipe
	defer func() { pipe.close() }()
	for err == nil {
		var n, wrote int
		var failed error
		switch {
		case target != nil && pipe != nil && CanRead(src) && target.CanWritePipe():
			if n, err = Read(src, pipe, pipe.size); n > 0 {
				wrote, failed = target.WritePipe(pipe, n)
			}
		case target != nil && pipe == nil && written >= largeBody && CanRead(src) && target.CanWritePipe():
			if pipe = newPipe(); pipe == nil {
				target = nil
			}
		default:
			if n, err = src.Read(buffer); n > 0 {
				wrote, failed = dst.Write(buffer[:n])
			}
		}
		written += int64(wrote)
		switch {
		case failed != nil:
			return written, failed
		case wrote < n:
			return written, io.ErrShortWrite
		}
	}
	if err == io.EOF {
		err = nil
	}
	return written, err
}
