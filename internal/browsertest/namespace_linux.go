package browsertest

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// killWithParent makes the kernel kill the browser if the test process dies.
func killWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// newNamespace creates a network namespace whose only interface is loopback, and
// returns its path. Connections in the namespace to one of addrs are forwarded
// to the same address outside. The namespace ends with the test.
func newNamespace(t *testing.T, addrs []string) (path string, err error) {
	listeners := make([]net.Listener, len(addrs))
	created, ended := make(chan error), make(chan struct{})
	go func() {
		// The thread is never unlocked, so that it ends with this goroutine.
		runtime.LockOSThread()
		path = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		created <- enterNamespace(addrs, listeners)
		<-ended
	}()
	err = <-created
	t.Cleanup(func() {
		close(ended)
		for _, l := range listeners {
			if l != nil {
				l.Close()
			}
		}
	})
	for _, l := range listeners {
		if l != nil {
			go forward(l)
		}
	}
	return path, err
}

// enterNamespace moves the current thread to a new network namespace and listens
// on each address.
func enterNamespace(addrs []string, listeners []net.Listener) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := startLoopback(); err != nil {
		return err
	}
	for i, addr := range addrs {
		var err error
		if listeners[i], err = net.Listen("tcp", addr); err != nil {
			return err
		}
	}
	return nil
}

// startLoopback enables the loopback interface, which gets its addresses from
// the kernel.
func startLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return os.NewSyscallError("ioctl", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo))
}

// forward connects each connection of l to the address of l outside the
// namespace. It returns when l is closed.
func forward(l net.Listener) {
	for {
		inside, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer inside.Close()
			outside, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return
			}
			defer outside.Close()
			go func() {
				io.Copy(outside, inside)
				outside.Close()
			}()
			io.Copy(inside, outside)
		}()
	}
}
