package peer

import (
	"net"
	"sync"
)

// inetd listens on a free port and starts one process for each connection, as
// the program inetd does. The connection is the standard input and output of
// the process. The function configure is called after the address of the server
// is set.
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
	group    sync.WaitGroup // accept and one goroutine per process

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

// serve starts the process for a connection. It closes the connection in this
// process, so that the exit of the new process closes the connection.
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
		kill(p.cmd.Process) // kills its child processes
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
