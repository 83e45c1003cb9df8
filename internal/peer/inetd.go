package peer

import (
	"net"
	"sync"
)

// inetd answers each connection with a process of its own whose standard
// input and output are the connection, as inetd does for "stream tcp nowait".
// configure knows the address already.
func (s *Server) inetd(configure func() command) *Server {
	s.t.Helper()
	ln, err := net.Listen("tcp4", host+":0")
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	s.Addr = ln.Addr().String()
	s.Port = port(s.Addr)
	in := &inetd{server: s, listener: ln, command: configure(), running: map[*process]bool{}}
	s.end = sync.OnceFunc(in.close)
	in.group.Go(in.accept)
	return s
}

type inetd struct {
	server   *Server
	listener net.Listener
	command  command
	group    sync.WaitGroup // accept, and one goroutine a process

	mu      sync.Mutex
	closed  bool
	running map[*process]bool
}

func (in *inetd) accept() {
	for {
		conn, err := in.listener.Accept()
		if err != nil {
			return // closed
		}
		if err := in.serve(conn.(*net.TCPConn)); err != nil {
			in.server.t.Logf("peer: %s: %v", in.command.path, err)
		}
	}
}

// serve starts the process and gives up our end of the connection, so that
// its exit is what closes it.
func (in *inetd) serve(conn *net.TCPConn) error {
	defer conn.Close()
	socket, err := conn.File()
	if err != nil {
		return err
	}
	defer socket.Close()
	if err := blocking(socket); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	p, err := in.server.spawn(in.command, socket)
	if err != nil {
		return err
	}
	in.running[p] = true
	in.group.Go(func() {
		<-p.done
		kill(p.cmd.Process) // what it left behind
		in.mu.Lock()
		delete(in.running, p)
		in.mu.Unlock()
	})
	return nil
}

func (in *inetd) close() {
	in.listener.Close()
	in.mu.Lock()
	in.closed = true
	var left []*process
	for p := range in.running {
		left = append(left, p)
	}
	in.mu.Unlock()
	for _, p := range left {
		p.end()
	}
	in.group.Wait()
}
