package peer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// A PostgresDisk is a small file system that only a server of
// [PostgresOnDisk] sees.
type PostgresDisk struct {
	s    *Server
	path string
}

// PostgresOnDisk is like [Postgres] with durable set, but keeps new tables on a
// file system with 16 MiB. Only root can create the file system.
func PostgresOnDisk(t TB) (*Server, *PostgresDisk) {
	t.Helper()
	unshare, setpriv := Need(t, "unshare", "util-linux"), Need(t, "setpriv", "util-linux")
	user := unprivileged()
	if user == "" {
		skip(t, "only root can mount a file system")
		return nil, nil
	}
	uid, gid, err := ids(user)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	d := &PostgresDisk{}
	d.s = postgres(t, true, func(s *Server, c command) command {
		d.path = filepath.Join(s.Dir, "disk")
		s.mkdir(d.path, user)
		const script = `mount -t tmpfs -o size=16m,mode=0700,uid="$2",gid="$3" tmpfs "$1" &&
			exec "$0" --reuid "$2" --regid "$3" --clear-groups "${@:4}"`
		args := []string{"--mount", "bash", "-c", script, setpriv, d.path, strconv.Itoa(uid), strconv.Itoa(gid), c.path}
		c.path, c.args, c.user = unshare, append(args, c.args...), ""
		return c
	})
	cmd := exec.Command(filepath.Join(postgresDir(t), "psql"), "-h", host, "-p", strconv.Itoa(int(d.s.Port)), "-U", "postgres",
		"-c", "create tablespace small location '"+d.path+"'", "-c", "alter role postgres set default_tablespace = small")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("peer: %v: %s", err, out)
	}
	return d.s, d
}

// Fill uses all free space of the file system.
func (d *PostgresDisk) Fill() error {
	name, err := d.ballast()
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, zeros{})
	if err = errors.Join(err, f.Close()); errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return fmt.Errorf("the file system did not become full: %w", err)
}

// Free deletes the file with which Fill filled the file system.
func (d *PostgresDisk) Free() error {
	name, err := d.ballast()
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// ballast returns the path of the file that fills the file system. The path
// begins with /proc/PID/root, because only the server sees the file system.
func (d *PostgresDisk) ballast() (string, error) {
	pid, err := postmaster(d.s)
	return filepath.Join("/proc", pid, "root", d.path, "ballast"), err
}

// zeros is an endless reader of null bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
