package faultnet

import (
	"errors"
	"net"
	"testing"
)

// Listen starts a server on a loopback socket. A script that begins with Refuse
// or Blackhole must be the only script, because the kernel accepts connections
// before a script runs. Blackhole needs Linux; elsewhere the test is skipped.
func Listen(t testing.TB, scripts ...Script) *Server {
	t.Helper()
	for _, script := range scripts {
		if !script.begins(refuse) && !script.begins(blackhole) {
			continue
		}
		if len(scripts) > 1 {
			t.Fatal("faultnet: refuse and blackhole stand alone on real sockets")
		}
		return deaf(t, script.begins(blackhole))
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, l.Addr().(*net.TCPAddr).AddrPort(), scripts)
	open := func(l net.Listener) {
		s.shut = func() { l.Close() }
		s.tasks.Go(func() { s.accept(l) })
	}
	s.listen = func() error {
		l, err := net.Listen("tcp4", s.addr.String())
		if err == nil {
			open(l)
		}
		return err
	}
	open(l)
	return s
}

func (s *Server) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.failed(err)
			return
		}
		s.serve(conn, s.next())
	}
}

// deaf returns a server to which no client can connect.
func deaf(t testing.TB, silent bool) *Server {
	t.Helper()
	addr, shut, err := deafSocket(silent)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("faultnet: no such socket on this system")
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, addr, nil)
	s.shut = shut
	return s
}
