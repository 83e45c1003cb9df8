//go:build unix && !aix

package telnet

import (
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// withUrgent returns a connection that passes each byte of urgent data to
// handle. If several urgent bytes arrive before the first one is read, TCP
// reports only the last one.
func withUrgent(c *net.TCPConn, handle urgentHandler) net.Conn {
	raw, err := c.SyscallConn()
	if err != nil {
		return c
	}
	raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_OOBINLINE, 1) })
	if err != nil {
		return c
	}
	return &urgentConn{c, handle}
}

// An urgentConn is a TCP connection that reads urgent data at its position in
// the stream. The operating system marks this position.
type urgentConn struct {
	*net.TCPConn
	handle urgentHandler
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
		pollErr := raw.Read(func(fd uintptr) bool {
			for err = unix.EINTR; err == unix.EINTR; {
				n, marked, err = readToMark(int(fd), p)
			}
			return err != unix.EAGAIN
		})
		switch {
		case pollErr != nil:
			return 0, pollErr
		case err != nil:
			return 0, &net.OpError{
				Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(),
				Err: os.NewSyscallError("read", err),
			}
		case n == 0:
			return 0, io.EOF
		case !marked:
			return n, nil
		}
		c.handle(p[0])
	}
}

// readToMark reads the data before the urgent mark, or the byte at the mark.
// The position of the mark is available only after data has arrived.
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
