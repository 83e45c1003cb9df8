package peer

import (
	"fmt"
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
	return s.startTftp(func(base uint16) command {
		return command{path: program, args: append([]string{"--foreground", "--secure", "--address", addr(base)}, append(args, s.Root)...)}
	})
}

// Atftpd starts the TFTP server atftpd (Debian atftpd), which serves Root. The
// arguments are options, such as "--no-blksize".
func Atftpd(t TB, args ...string) *Server {
	t.Helper()
	program := Need(t, "atftpd", "atftpd")
	NeedRoot(t, "atftpd") // it changes its account
	s := newServer(t)
	return s.startTftp(func(base uint16) command {
		return command{path: program, args: append([]string{"--daemon", "--no-fork", "--logfile", "-", "--user", "nobody.nogroup",
			"--bind-address", host, "--port", fmt.Sprint(base)}, append(args, s.Root)...)}
	})
}

// startTftp starts a TFTP server and waits until it answers.
func (s *Server) startTftp(configure func(base uint16) command) *Server {
	s.t.Helper()
	var used uint16
	s.start(func(base uint16) command {
		used = base // s.Addr is not set yet, because start would wait for a TCP server there
		return configure(base)
	})
	s.Addr, s.Port = addr(used), used
	if err := retry(func() error { return answersTftp(s.Addr) }); err != nil {
		s.t.Fatalf("peer: TFTP server: %v", err)
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
