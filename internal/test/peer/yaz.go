package peer

// Yaz starts the Z39.50 server yaz-ztest (Debian yaz). Its databases are
// Default, db followed by letters, and slow. A search finds as many records as
// the number at the beginning of its term states. The records are USMARC, XML,
// SUTRS and OPAC.
func Yaz(t TB) *Server {
	t.Helper()
	program := Need(t, "yaz-ztest", "yaz")
	s := newServer(t)
	s.config("dummy-words", "") // the server ends without this file
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		return command{path: program, args: []string{"-w", s.Dir, "tcp:" + s.Addr}, user: unprivileged()}
	})
}
