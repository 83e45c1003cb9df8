package peer

// Rlogind starts the rlogin server in.rlogind (Debian rsh-redone-server). It
// closes connections from ports above 1023, prompts for the password of User,
// and starts a shell in Home. Rlogind requires permission to mount file
// systems.
func Rlogind(t TB) *Server {
	t.Helper()
	program := Need(t, "in.rlogind", "rsh-redone-server")
	NeedRoot(t, "in.rlogind")
	unshare := needMount(t, "in.rlogind")
	s := newServer(t)
	s.accounts(nil)
	// in.rlogind starts the program login with an empty environment, so
	// libnss-wrapper cannot be used. The files of the test are therefore
	// mounted over /etc/passwd and other system files. Login records must not
	// remain on the system.
	script := `mount --bind "$1"/passwd /etc/passwd && mount --bind "$1"/shadow /etc/shadow &&
		mount -t tmpfs none /var/log && mount -t tmpfs none /run && exec "$2"`
	return s.inetd(func() command {
		args := []string{"--mount", "sh", "-c", script, "sh", s.Dir, program}
		return command{path: unshare, args: args}
	})
}
