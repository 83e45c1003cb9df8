package chromium

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstPort is the port of the first listener in a network namespace.
const firstPort = 8801

// nobody is the user and the group that run the browser for root.
const nobody = 65534

// An account is the user that runs the browser. The zero account is the user of
// this process.
type account struct{ uid, gid int }

// userOf returns the account for the browser. For root, this is the owner of the
// profile, or else nobody.
func userOf(o *Options) (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	if o.Profile == "" {
		return account{nobody, nobody}, nil
	}
	info, err := os.Stat(o.Profile)
	if err != nil {
		return account{}, err
	}
	owner := info.Sys().(*syscall.Stat_t)
	if owner.Uid == 0 {
		return account{}, fmt.Errorf("profile %s belongs to root, and the browser does not run as root: give it to another user", o.Profile)
	}
	return account{int(owner.Uid), int(owner.Gid)}, nil
}

// own makes the account the owner of a new directory.
func (a account) own(dir string) error {
	if a == (account{}) {
		return nil
	}
	return os.Chown(dir, a.uid, a.gid)
}

// run starts the program in a network namespace and waits for its exit in the
// background.
func (p *Process) run(o *Options, user account) error {
	p.Isolated = true
	p.cmd.Args = append([]string{p.cmd.Path}, p.arguments(o, fmt.Sprintf("http://127.0.0.1:%d", firstPort))...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	start := p.startChild
	if user != (account{}) {
		p.limitData()
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user.uid), Gid: uint32(user.gid)}
		start = p.startInNamespace
	}
	started := make(chan error, 1)
	inOwnThread(func() {
		err := start(o)
		started <- err
		if err == nil {
			p.cmd.Wait()
			close(p.ended)
		}
	})
	return <-started
}

// maxData is the maximum size of the writable memory of each process of the
// browser, in bytes. A page that needs more crashes, or its script gets an
// exception.
const maxData = 4 << 30

// limitData makes the command start through a shell, which sets the limit of
// writable memory. Package os/exec has no limits for child processes.
func (p *Process) limitData() {
	p.cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, maxData>>10)}, p.cmd.Args...)
	p.cmd.Path = "/bin/sh"
}

// inOwnThread calls f in a new goroutine and thread, which end with f.
// The kernel kills the browser when the thread that started it ends, and no other
// goroutine may run in its namespace. The thread is not the first thread of the
// process, because /proc/self describes the namespaces of that thread.
func inOwnThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			f()
		}()
		<-locked // the first thread cannot run the other goroutine
		runtime.UnlockOSThread()
	}()
}

// startInNamespace starts the program in a new network namespace of the current
// thread. It needs root privileges.
func (p *Process) startInNamespace(o *Options) (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := startLoopback(); err != nil {
		return err
	}
	if p.Listeners, err = listen(o.Listeners, firstPort); err != nil {
		return err
	}
	return p.cmd.Start()
}

// startLoopback enables the loopback interface of a new namespace. The kernel
// gives it its addresses.
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

// Kill ends the browser and its child processes.
func (p *Process) Kill() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// exitText adds the output of a child to its exit error.
func exitText(err error, output string) error {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && output != "" {
		return fmt.Errorf("%s: %s", failed, output)
	}
	return err
}
