package peer

import "strconv"

// Nghttpd starts the web server nghttpd (Debian nghttp2-server), which speaks
// only HTTP/2, with TLS. It serves Root without directory listings.
func Nghttpd(t TB) *Server {
	t.Helper()
	program := Need(t, "nghttpd", "nghttp2-server")
	s := newServer(t)
	s.Cert = NewCert(t, CertOptions{})
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		s.TLSAddr = s.Addr
		args := []string{"-a", host, "-d", s.Root, strconv.Itoa(int(base)), s.Cert.KeyFile, s.Cert.File}
		return command{path: program, args: args, user: unprivileged()}
	})
}
