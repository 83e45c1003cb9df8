package peer

// InetutilsFTPd starts ftpd (Debian inetutils-ftpd), an FTP server without
// MLSD, UTF8 and TLS. Its FEAT command requires a login. Only the options Users
// and Config are supported.
func InetutilsFTPd(t TB, opts FTPOptions) *Server {
	t.Helper()
	program := Need(t, "ftpd", "inetutils-ftpd")
	NeedRoot(t, "ftpd")
	s := newServer(t)
	env := s.accounts(opts.Users)
	return s.inetd(func() command { return command{path: program, args: append([]string{"-l"}, opts.Config...), env: env} })
}
