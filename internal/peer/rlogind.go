package peer

// Rlogind starts in.rlogind (Debian rsh-redone-server). It closes connections
// from ports above 1023, requests the password of User, and starts a shell in
// Home. It needs the right to mount.
func Rlogind(t TB) *Server {
	t.Helper()
	program := Need(t, "in.rlogind", "rsh-redone-server")
	NeedRoot(t, "in.rlogind")
	unshare := needMount(t, "in.rlogind")
	s := newServer(t)
	s.accounts(nil)
	// in.rlogind starts login with an empty environment. So login must find our
	// files at the paths of the system files, and its records must not remain.
	script := `mount --bind "$1"/passwd /etc/passwd && mount --bind "$1"/shadow /etc/shadow &&
		mount -t tmpfs none /var/log && mount -t tmpfs none /run && exec "$2"`
	return s.inetd(func() command {
		args := []string{"--mount", "sh", "-c", script, "sh", s.Dir, program}
		return command{path: unshare, args: args}
	})
}
