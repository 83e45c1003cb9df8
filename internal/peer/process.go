package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// A Command is how a server is started. It must stay in the foreground.
type Command struct {
	Path  string
	Args  []string
	Env   []string                // added to ours
	User  string                  // the account to run as; "" is ours
	Ready func(addr string) error // nil: a connection is enough
}

const (
	startTime = 20 * time.Second      // for a server to answer, also on a busy machine
	retryTime = 20 * time.Millisecond // between two attempts to connect
	endTime   = time.Second           // from SIGTERM to SIGKILL
)

// start reserves ports, lets configure write the configuration for them and
// set the addresses of s, and returns when the server answers on all of them.
// A server that exits at once is tried again on other ports, since somebody
// may have taken one in between.
func (s *Server) start(configure func(base uint16) Command) *Server {
	s.t.Helper()
	for range 3 {
		base, held, err := reserve()
		if err != nil {
			s.t.Fatalf("peer: %v", err)
		}
		c := configure(base)
		s.Port, s.TLSPort = port(s.Addr), port(s.TLSAddr)
		p, err := s.spawn(c, nil)
		if err != nil {
			held.Close()
			s.t.Fatalf("peer: %v", err)
		}
		s.end = p.end
		s.t.Cleanup(func() { p.end(); held.Close() })
		if err = s.ready(p, c); err == nil {
			return s
		}
		p.end()
		if !errors.Is(err, errExited) {
			s.t.Fatalf("peer: %s: %v", c.Path, err)
		}
		s.t.Logf("peer: %s: %v", c.Path, err)
	}
	s.t.Fatalf("peer: no server after three attempts")
	return nil
}

var errExited = errors.New("exited before it answered")

// ready waits until the server answers on each of its addresses.
func (s *Server) ready(p *process, c Command) error {
	check := c.Ready
	if check == nil {
		check = connect
	}
	deadline := time.Now().Add(startTime)
	for _, a := range []string{s.Addr, s.TLSAddr} {
		for a != "" {
			err := check(a)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("no answer on %s: %w", a, err)
			}
			select {
			case <-p.done:
				return errExited
			case <-time.After(retryTime):
			}
		}
	}
	select {
	case <-p.done:
		return errExited // somebody else answered
	default:
		return nil
	}
}

func connect(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// greets returns a Command.Ready for servers that speak first: it is content
// when the first bytes that they send are these.
func greets(want string) func(addr string) error {
	return func(addr string) error {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(startTime)); err != nil {
			return err
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil {
			return err
		}
		if string(got) != want {
			return fmt.Errorf("greeting %q, want %q", got, want)
		}
		return nil
	}
}

// A process is a program in a process group of its own.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has exited
	once sync.Once
}

// spawn starts a program with its output in Dir. A program with a socket
// reads and writes that instead, and only its error output is kept.
func (s *Server) spawn(c Command, socket *os.File) (*process, error) {
	log, err := os.OpenFile(filepath.Join(s.Dir, "output.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	if socket != nil {
		cmd.Stdin, cmd.Stdout = socket, socket
	}
	if err := ownGroup(cmd, c.User); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the log says why
		close(p.done)
	}()
	return p, nil
}

// end asks the group to end, then makes it.
func (p *process) end() {
	p.once.Do(func() {
		terminate(p.cmd.Process)
		select {
		case <-p.done:
		case <-time.After(endTime):
		}
		kill(p.cmd.Process)
		<-p.done
	})
}
