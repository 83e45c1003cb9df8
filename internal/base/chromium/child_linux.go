package chromium

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// childName is the name under which this program is started to enter a network
// namespace without root privileges.
const childName = "fetch-browser-network"

// childFile is the file descriptor of a child that is connected with its parent.
// The descriptors 3 and 4 belong to the browser.
const childFile = 5

// Child must be the first call of the function main of a program that starts
// browsers without root privileges. It returns at once, unless Start has started
// the program again to enter a network namespace. Such a process becomes the
// browser.
func Child() {
	if len(os.Args) < 3 || os.Args[0] != childName {
		return
	}
	n, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = becomeBrowser(n, os.Args[2:])
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// becomeBrowser opens n listeners in the namespace of this process, sends them to
// the parent and executes the browser.
func becomeBrowser(n int, command []string) error {
	if err := startLoopback(); err != nil {
		return err
	}
	listeners, err := listen(n, firstPort)
	if err != nil {
		return err
	}
	var fds []int
	for _, l := range listeners {
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			return err
		}
		fds = append(fds, int(f.Fd()))
	}
	if err := unix.Sendmsg(childFile, []byte{0}, unix.UnixRights(fds...), nil, 0); err != nil {
		return os.NewSyscallError("sendmsg", err)
	}
	unix.Close(childFile)
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	limit := &unix.Rlimit{Cur: maxData, Max: maxData}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, limit); err != nil {
		return os.NewSyscallError("setrlimit", err)
	}
	return os.NewSyscallError("exec", syscall.Exec(command[0], command, os.Environ()))
}

// startChild starts this program again in a new user namespace and a new network
// namespace, in which it becomes the browser. It receives the listeners.
func (p *Process) startChild(o *Options) error {
	if !o.Child {
		return errors.New("only root can isolate a browser, because this program does not call chromium.Child")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "parent"), os.NewFile(uintptr(pair[1]), "child")
	defer ours.Close()
	p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, theirs)
	p.cmd.Args = append([]string{childName, strconv.Itoa(o.Listeners)}, p.cmd.Args...)
	p.cmd.Path = self
	a := p.cmd.SysProcAttr
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	err = p.cmd.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	if p.Listeners, err = receive(pair[0], o.Listeners); err != nil {
		p.Kill()
		return exitText(errors.Join(p.cmd.Wait(), err), p.Output())
	}
	return nil
}

// receive receives n listeners from the child.
func receive(fd, n int) (all []net.Listener, err error) {
	defer func() {
		for _, l := range all {
			if err != nil {
				l.Close()
			}
		}
	}()
	data, space := make([]byte, 1), make([]byte, unix.CmsgSpace(4*n))
	_, size, _, _, err := unix.Recvmsg(fd, data, space, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("recvmsg", err)
	}
	messages, err := unix.ParseSocketControlMessage(space[:size])
	if err != nil || len(messages) == 0 {
		return nil, errors.Join(errors.New("the network namespace was not created"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "listener")
		l, err := net.FileListener(f)
		f.Close()
		if err != nil {
			return all, err
		}
		all = append(all, l)
	}
	if len(all) != n {
		return all, errors.New("the network namespace has too few listeners")
	}
	return all, nil
}
