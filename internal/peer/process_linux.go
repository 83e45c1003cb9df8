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

// ownGroup has cmd run as an account, in a process group of its own that is
// signalled as a whole, and killed should this process die without cleaning
// up.
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

// unprivileged returns the account for servers that should not be root.
func unprivileged() string {
	if os.Geteuid() == 0 {
		return "nobody"
	}
	return ""
}

// kill ends a process and all others in its group.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// chown gives a file to an account; "" leaves it as it is.
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

// lock takes a name for this process among all processes that share our
// network: an abstract socket, which the kernel gives up with the process.
func lock(name string) (io.Closer, error) { return net.Listen("unix", "@"+name) }

// blocking undoes the mode that Go gives its sockets: C programs expect a read
// to wait.
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
