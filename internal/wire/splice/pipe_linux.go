package splice

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Pipe is a buffer in the kernel. It is empty between two calls of the method
// ReadPipe of a [Source].
type Pipe struct {
	in, out *os.File // ends for writing and for reading
	size    int      // capacity in bytes
}

const (
	minSize = 64 << 10 // default capacity of a Pipe in bytes
	maxSize = 1 << 20  // largest capacity that an unprivileged process may set by default
)

// newPipe opens a pipe with a capacity of maxSize if possible. It returns nil
// if the process cannot open a pipe.
func newPipe() *Pipe {
	var fd [2]int
	if unix.Pipe2(fd[:], unix.O_CLOEXEC) != nil {
		return nil
	}
	p := &Pipe{in: os.NewFile(uintptr(fd[1]), "pipe"), out: os.NewFile(uintptr(fd[0]), "pipe"), size: maxSize}
	if _, err := unix.FcntlInt(uintptr(fd[1]), unix.F_SETPIPE_SZ, maxSize); err != nil {
		p.size = minSize
	}
	return p
}

func (p *Pipe) close() {
	if p != nil {
		p.in.Close()
		p.out.Close()
	}
}

// CanFill reports whether [Pipe.Fill] supports the connection c.
func CanFill(c net.Conn) bool {
	_, ok := c.(*net.TCPConn)
	return ok
}

// Fill waits until c has data, and moves up to limit bytes to the Pipe. At the
// end of the stream, it returns io.EOF.
func (p *Pipe) Fill(c net.Conn, limit int) (n int, err error) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, failed = transfer(int(fd), int(p.in.Fd()), limit, unix.SPLICE_F_NONBLOCK)
		return failed != unix.EAGAIN
	})
	switch {
	case err != nil:
		return 0, err
	case failed == unix.EINVAL, failed == unix.ENOSYS, failed == unix.EPERM: // not supported
		return p.copyFrom(c, limit)
	case failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("splice", failed)}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// copyFrom is like Fill, but copies the bytes through the memory of the
// process.
func (p *Pipe) copyFrom(c net.Conn, limit int) (int, error) {
	buffer := make([]byte, min(limit, minSize))
	n, err := c.Read(buffer)
	if n > 0 {
		if _, failed := p.in.Write(buffer[:n]); failed != nil {
			return 0, failed
		}
	}
	return n, err
}

// Drain moves n bytes from the Pipe to f. If splice does not support f or fails,
// the remaining bytes are written with the method Write of f.
func (p *Pipe) Drain(f *os.File, n int) (wrote int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for wrote < n && failed == nil {
			var k int
			if k, failed = transfer(int(p.out.Fd()), int(fd), n-wrote, 0); k == 0 {
				break
			}
			wrote += k
		}
	})
	if err != nil || wrote == n {
		return wrote, err
	}
	rest := make([]byte, n-wrote)
	if _, err := io.ReadFull(p.out, rest); err != nil {
		return wrote, err
	}
	k, err := f.Write(rest)
	return wrote + k, err
}

// transfer calls splice and repeats it while a signal interrupts it.
func transfer(from, to, limit, flags int) (int, error) {
	for {
		n, err := unix.Splice(from, nil, to, nil, limit, flags)
		if err != syscall.EINTR {
			return max(int(n), 0), err
		}
	}
}
