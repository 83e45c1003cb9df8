package peer

import (
	"net"
	"time"
)

// Tftpd starts the TFTP server in.tftpd (Debian tftpd-hpa), which serves Root.
// It answers from another port for each transfer. The further arguments are
// options, such as "--refuse", "blksize".
func Tftpd(t TB, args ...string) *Server {
	t.Helper()
	program := Need(t, "in.tftpd", "tftpd-hpa")
	NeedRoot(t, "in.tftpd") // it changes its root directory
	s := newServer(t)
	var used uint16
	s.start(func(base uint16) command {
		used = base // s.Addr is not set yet, because start would wait for a TCP server there
		return command{path: program, args: append([]string{"--foreground", "--secure", "--address", addr(base)}, append(args, s.Root)...)}
	})
	s.Addr, s.Port = addr(used), used
	err := retry(func() error { return answersTftp(s.Addr) })
	if err != nil {
		t.Fatalf("peer: in.tftpd: %v", err)
	}
	return s
}

// answersTftp returns an error unless the server answers a request for a file
// that does not exist.
func answersTftp(addr string) error {
	conn, err := net.ListenPacket("udp4", host+":0")
	if err != nil {
		return err
	}
	defer conn.Close()
	to, err := net.ResolveUDPAddr("udp4", addr)
	if err != nil {
		return err
	}
	if _, err := conn.WriteTo([]byte("\x00\x01none\x00octet\x00"), to); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		return err
	}
	_, _, err = conn.ReadFrom(make([]byte, 1000))
	return err
}
