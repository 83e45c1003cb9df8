package peer

// InetutilsFTPd starts ftpd (Debian inetutils-ftpd), a server of the old kind:
// no MLSD, no UTF8, no TLS, a FEAT that wants a login. Of the options it knows
// Users and Config.
func InetutilsFTPd(t TB, opts FTPOptions) *Server {
	t.Helper()
	program := Need(t, "ftpd", "inetutils-ftpd")
	NeedRoot(t, "ftpd")
	s := newServer(t)
	env := s.accounts(opts.Users)
	return s.inetd(func() command { return command{path: program, args: append([]string{"-l"}, opts.Config...), env: env} })
}
