//go:build unix && !aix

package telnet

import (
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// withUrgent returns c, which tells heard its urgent data. Of more that come
// before the first is read TCP shows the last alone.
func withUrgent(c *net.TCPConn, heard urgent) net.Conn {
	raw, err := c.SyscallConn()
	if err != nil {
		return c
	}
	raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_OOBINLINE, 1) })
	if err != nil {
		return c
	}
	return &urgentConn{c, heard}
}

// An urgentConn reads urgent data at its place in the stream, where the system
// marks it.
type urgentConn struct {
	*net.TCPConn
	heard urgent
}

func (c *urgentConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	for {
		n, marked := 0, false
		waited := raw.Read(func(fd uintptr) bool {
			for err = unix.EINTR; err == unix.EINTR; {
				n, marked, err = readToMark(int(fd), p)
			}
			return err != unix.EAGAIN
		})
		switch {
		case waited != nil:
			return 0, waited
		case err != nil:
			return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", err)}
		case n == 0:
			return 0, io.EOF
		case !marked:
			return n, nil
		}
		c.heard(p[0])
	}
}

// readToMark reads what comes before the mark, or the one byte at it. There
// must be something before the mark can be asked for.
func readToMark(fd int, p []byte) (n int, marked bool, err error) {
	if _, _, err := unix.Recvfrom(fd, p[:1], unix.MSG_PEEK); err != nil {
		return 0, false, err
	}
	if at, err := unix.IoctlGetInt(fd, unix.SIOCATMARK); err == nil && at != 0 {
		marked, p = true, p[:1]
	}
	n, err = unix.Read(fd, p)
	return n, marked, err
}
