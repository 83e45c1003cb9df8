package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A process is a running program in its own process group.
type process struct {
	cmd  *exec.Cmd
	quit os.Signal     // sent before the program is killed, or nil
	done chan struct{} // closed when the program has exited
	once sync.Once
}

// spawn starts a program and writes its output to a file in Dir. If socket is
// not nil, it is the standard input and output of the program, and only
// standard error goes to the file.
func (s *Server) spawn(c command, socket *os.File) (*process, error) {
	log, err := os.OpenFile(filepath.Join(s.Dir, "output.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if err := chown(log.Name(), c.user); err != nil { // some programs open /dev/stderr again
		return nil, err
	}
	cmd := exec.Command(c.path, c.args...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = log, log
	if socket != nil {
		cmd.Stdin, cmd.Stdout = socket, socket
	}
	if err := ownGroup(cmd, c.user); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, quit: c.quit, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel kills cmd when the thread that started it ends. Without the
		// lock, another goroutine could use this thread and end it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log contains the reason
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// end sends the quit signal, if any, and kills the process group. A clean
// shutdown is not necessary, because all files of the server are deleted.
func (p *process) end() {
	p.once.Do(func() {
		if p.quit != nil && p.cmd.Process.Signal(p.quit) == nil {
			select {
			case <-p.done:
			case <-time.After(quitTime):
			}
		}
		kill(p.cmd.Process)
	})
	<-p.done
}

// quitTime is the time limit for a program to end after its quit signal. A
// program with such a signal has processes outside its process group.
const quitTime = 5 * time.Second

// processes contains the processes of one server in the order in which they
// started.
type processes []*process

func (ps *processes) end() {
	for _, p := range slices.Backward(*ps) {
		p.end()
	}
}

func (ps processes) exited() bool {
	for _, p := range ps {
		select {
		case <-p.done:
			return true
		default:
		}
	}
	return false
}
