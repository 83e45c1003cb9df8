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
	space, listeners, err := enterNamespace(addrs)
	t.Cleanup(func() {
		for _, l := range listeners {
			l.Close()
		}
		space.Close()
	})
	for _, l := range listeners {
		go forward(l)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), space.Fd()), nil
}

// ownNamespace is the network namespace of the current thread.
const ownNamespace = "/proc/thread-self/ns/net"

// enterNamespace creates a network namespace, listens on each address in it,
// and returns to the namespace of the caller. The thread must not end, because
// the kernel kills the servers of a test when the thread that started them
// ends.
func enterNamespace(addrs []string) (space *os.File, listeners []net.Listener, err error) {
	runtime.LockOSThread()
	home, err := os.Open(ownNamespace)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, nil, err
	}
	defer home.Close()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, nil, os.NewSyscallError("unshare", err)
	}
	space, listeners, err = listenInside(addrs)
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return space, listeners, os.NewSyscallError("setns", back)
	}
	runtime.UnlockOSThread()
	return space, listeners, err
}

// listenInside listens on each address in the namespace of the current thread.
// It also returns the open file of the namespace. After an error, the results
// contain all that was opened.
func listenInside(addrs []string) (space *os.File, listeners []net.Listener, err error) {
	if space, err = os.Open(ownNamespace); err != nil {
		return nil, nil, err
	}
	if err := startLoopback(); err != nil {
		return space, nil, err
	}
	for _, addr := range addrs {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return space, listeners, err
		}
		listeners = append(listeners, l)
	}
	return space, listeners, nil
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
