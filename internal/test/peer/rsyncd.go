package peer

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Rsyncd starts the rsync daemon (Debian rsync) with three modules: "files" is
// Root, "private" is Root for User with Password, and "hidden" is not listed. The
// daemon does not run as root.
func Rsyncd(t TB) *Server {
	t.Helper()
	return rsyncd(t, Need(t, "rsync", "rsync"))
}

// RsyncdNewer starts the rsync daemon of Debian 13 (Debian rsync) with the
// modules of Rsyncd.
func RsyncdNewer(t TB) *Server {
	t.Helper()
	program, args := Newer(t, "usr/bin/rsync")
	return rsyncd(t, program, args...)
}

func rsyncd(t TB, program string, first ...string) *Server {
	t.Helper()
	s := newServer(t)
	secrets := s.config("secrets", User+":"+Password+"\n")
	config := s.config("rsyncd.conf", fmt.Sprintf(`use chroot = no
strict modes = no
log file = /dev/stderr
motd file = %s
[files]
path = %s
comment = test files
[private]
path = %s
auth users = %s
secrets file = %s
[hidden]
path = %s
list = no
`, s.config("motd", "Welcome\n"), s.Root, s.Root, User, secrets, filepath.Join(s.Root)))
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		args := append(slices.Clone(first), "--daemon", "--no-detach", "--config="+config, "--address="+host, fmt.Sprintf("--port=%d", base))
		return command{path: program, args: args, user: unprivileged()}
	})
}
