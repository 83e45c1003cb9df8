package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Postgres starts the database PostgreSQL (Debian postgresql-15). It accepts
// all users without a password. The database "postgres" and the user "postgres"
// exist. If durable is false, the server does not sync its files to disk.
func Postgres(t TB, durable bool) *Server {
	t.Helper()
	return postgres(t, durable, func(_ *Server, c command) command { return c })
}

// postgres implements [Postgres]. The function in receives the command that
// starts the server and returns the command to run instead.
func postgres(t TB, durable bool, in func(*Server, command) command) *Server {
	t.Helper()
	bin := postgresDir(t)
	s := newServer(t)
	data, user := filepath.Join(s.Dir, "data"), unprivileged()
	s.mkdir(data, user)
	s.mkdir(filepath.Join(s.Dir, "socket"), user)
	if err := newCluster(bin, data, user); err != nil {
		t.Fatalf("peer: %v", err)
	}
	sync := "off"
	if durable {
		sync = "on"
	}
	s.accepts = func() error {
		return exec.Command(filepath.Join(bin, "pg_isready"), "-q", "-h", host, "-p", strconv.Itoa(int(s.Port))).Run()
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		return in(s, command{
			path: filepath.Join(bin, "postgres"), user: user, quit: syscall.SIGQUIT,
			args: []string{"-D", data, "-p", strconv.Itoa(int(base)), "-c", "listen_addresses=" + host, "-c", "fsync=" + sync,
				"-c", "unix_socket_directories=" + filepath.Join(s.Dir, "socket"), "-c", "max_connections=200"},
		})
	})
}

// newCluster creates a database cluster in the empty directory data, which belongs
// to user. In memory, a copy takes an eighth of the time of initdb, so root keeps one
// to copy.
func newCluster(bin, data, user string) error {
	if user == "" {
		return initdb(bin, data, user)
	}
	kept := filepath.Join(unpacked, "cluster-"+filepath.Base(filepath.Dir(bin))+"@1")
	if _, err := os.Stat(kept); err != nil {
		dir, err := os.MkdirTemp(unpacked, ".new.")
		if err != nil {
			return initdb(bin, data, user)
		}
		defer os.RemoveAll(dir)
		if err = chown(dir, user); err == nil {
			err = initdb(bin, dir, user)
		}
		if err != nil {
			return err
		}
		_ = os.Rename(dir, kept) // fails if another process was first
	}
	if out, err := exec.Command("cp", "-aT", kept, data).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func initdb(bin, data, user string) error {
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync",
		"--encoding=UTF8", "--locale=C")
	cmd.Dir = data
	if err := ownGroup(cmd, user); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// postmaster returns the process ID of the main process of a server.
func postmaster(s *Server) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.Dir, "data", "postmaster.pid"))
	first, _, _ := strings.Cut(string(text), "\n")
	return first, err
}

// postgresDir returns the directory of the programs of PostgreSQL. Debian does
// not put them into the directories of PATH.
func postgresDir(t TB) string {
	t.Helper()
	skipShort(t, "PostgreSQL")
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		skip(t, "initdb is absent: install the Debian package postgresql-15 (make peers)")
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// PostgresTime returns the processor time that a server of [Postgres] has used
// since its start, including ended connections. It requires Linux.
func PostgresTime(s *Server) (time.Duration, error) {
	first, err := postmaster(s)
	if err != nil {
		return 0, err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		// These are the fields after the program name: state, parent, and so
		// on. Fields 11 to 14 are the times of the process and of its ended
		// children.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		own := filepath.Base(filepath.Dir(name)) == first
		if len(fields) < 15 || !own && fields[1] != first {
			continue
		}
		for _, field := range fields[11:15] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / clockTicks, nil
}

// clockTicks is the number of clock ticks per second. Times in /proc are in
// this unit.
const clockTicks = 100
