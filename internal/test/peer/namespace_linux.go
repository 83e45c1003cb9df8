package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// isolated starts a server that cannot be configured to listen only on
// loopback. The server runs in its own network namespace, so that no other
// machine reaches it. The server must listen on the port of s.Addr, which is
// set before configure is called. Connections to s.Addr are forwarded to the
// server.
func (s *Server) isolated(configure func() command) *Server {
	s.t.Helper()
	NeedRoot(s.t, "network namespaces")
	ln, err := net.Listen("tcp4", host+":0")
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	s.Addr = ln.Addr().String()
	s.Port = port(s.Addr)
	c := configure()
	const start = `ip link set lo up && exec setpriv --reuid nobody --regid nogroup --clear-groups "$@"`
	Need(s.t, "ip", "iproute2")
	c.args = append([]string{"--net", "sh", "-c", start, "sh", c.path}, c.args...)
	c.path = Need(s.t, "unshare", "util-linux")
	p, err := s.spawn(c, nil)
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	f := &forwarder{server: s, listener: ln, pid: p.cmd.Process.Pid}
	s.end = sync.OnceFunc(func() { f.close(); p.end() })
	if err := retry(f.probe); err != nil {
		s.end()
		s.t.Fatalf("peer: %s: %v\n%s", c.args[5], err, s.Log())
	}
	f.group.Go(f.accept)
	return s
}

// A forwarder forwards connections into the network namespace of a process.
type forwarder struct {
	server   *Server
	listener net.Listener
	pid      int
	group    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn // all forwarded connections
	ended bool
}

// probe returns an error until the server accepts connections.
func (f *forwarder) probe() error {
	conn, err := f.dial()
	if err != nil {
		return err
	}
	return conn.Close()
}

// dial connects to the server from inside its network namespace. It must not
// end its thread, because the kernel would then kill the processes that the
// thread started.
func (f *forwarder) dial() (conn net.Conn, err error) {
	const own = "/proc/thread-self/ns/net"
	other := fmt.Sprintf("/proc/%d/ns/net", f.pid)
	runtime.LockOSThread()
	home, err := os.Open(own)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	defer home.Close()
	space, err := os.Open(other)
	if err != nil || same(own, other) {
		runtime.UnlockOSThread()
		return nil, errors.Join(errors.New("no namespace yet"), err)
	}
	defer space.Close()
	if err = unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err == nil {
		conn, err = net.Dial("tcp4", f.server.Addr)
	}
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return nil, back
	}
	runtime.UnlockOSThread()
	return conn, err
}

// same reports whether two links of the proc file system name the same namespace.
func same(a, b string) bool {
	one, _ := os.Readlink(a)
	two, _ := os.Readlink(b)
	return one == two
}

func (f *forwarder) accept() {
	for {
		near, err := f.listener.Accept()
		if err != nil {
			return // closed
		}
		far, err := f.dial()
		if err != nil {
			f.server.t.Logf("peer: %v", err)
			near.Close()
			continue
		}
		if !f.add(near, far) {
			return
		}
		f.group.Go(func() { pump(near, far) })
		f.group.Go(func() { pump(far, near) })
	}
}

// add records connections for the method close. If close was already called,
// add closes the connections and returns false.
func (f *forwarder) add(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, conns...)
	if f.ended {
		for _, c := range conns {
			c.Close()
		}
	}
	return !f.ended
}

// pump copies one direction of a connection. An error closes both connections.
// The end of the input closes only the sending side of the output.
func pump(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if err == nil {
		err = to.(*net.TCPConn).CloseWrite()
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		to.Close()
		from.Close()
	}
}

func (f *forwarder) close() {
	f.listener.Close()
	f.mu.Lock()
	f.ended = true
	for _, c := range f.conns {
		c.Close()
	}
	f.mu.Unlock()
	f.group.Wait()
}
