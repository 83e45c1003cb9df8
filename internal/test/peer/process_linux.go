package peer

import (
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// ownGroup makes cmd run as the given account in its own process group. The
// kernel kills cmd if the current process dies.
func ownGroup(cmd *exec.Cmd, account string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if account == "" {
		return nil
	}
	uid, gid, err := ids(account)
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return nil
}

// unprivileged returns the name of an account without privileges, for servers
// that must not run as root. It returns "" if this process does not run as
// root.
func unprivileged() string {
	if os.Geteuid() == 0 {
		return "nobody"
	}
	return ""
}

// kill kills all processes in the process group of p.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// chown changes the owner of a file to an account. If account is empty, chown
// has no effect.
func chown(path, account string) error {
	if account == "" {
		return nil
	}
	uid, gid, err := ids(account)
	if err != nil {
		return err
	}
	return os.Chown(path, uid, gid)
}

func ids(account string) (uid, gid int, err error) {
	u, err := user.Lookup(account)
	if err != nil {
		return 0, 0, err
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(u.Gid)
	return uid, gid, err
}

// lock reserves a name among all processes in the same network namespace. The
// lock is an abstract Unix socket, which the kernel removes when the process
// ends.
func lock(name string) (io.Closer, error) { return net.Listen("unix", "@"+name) }

// blocking sets a socket to blocking mode, because C programs expect blocking
// reads and Go uses non-blocking sockets.
func blocking(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := raw.Control(func(fd uintptr) { set = syscall.SetNonblock(int(fd), false) }); err != nil {
		return err
	}
	return set
}
