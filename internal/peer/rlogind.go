package peer

// Rlogind starts in.rlogind (Debian rsh-redone-server), which hangs up on
// clients with a port of 1024 or more, asks User for Password and gives a
// shell in Home. It needs the right to mount.
func Rlogind(t TB) *Server {
	t.Helper()
	program := Need(t, "in.rlogind", "rsh-redone-server")
	NeedRoot(t, "in.rlogind")
	unshare := needMount(t, "in.rlogind")
	s := newServer(t)
	s.accounts(nil)
	// It calls login with an empty environment, so login must find our files
	// where it finds those of the system, and its records must not stay.
	script := `mount --bind "$1"/passwd /etc/passwd && mount --bind "$1"/shadow /etc/shadow &&
		mount -t tmpfs none /var/log && mount -t tmpfs none /run && exec "$2"`
	return s.inetd(func() command {
		args := []string{"--mount", "sh", "-c", script, "sh", s.Dir, program}
		return command{path: unshare, args: args}
	})
}
