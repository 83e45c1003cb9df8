package peer

import (
	"fmt"
	"os"
)

// H2O starts the web server h2o (Debian h2o), which serves Root with directory
// listings. Addr accepts HTTP/1 and HTTP/2 in plaintext, and TLSAddr both over
// TLS.
func H2O(t TB) *Server {
	t.Helper()
	program := Need(t, "h2o", "h2o")
	s := newServer(t)
	s.certify(nil)
	account := unprivileged()
	key := s.key(account)
	return s.start(func(base uint16) command {
		s.Addr, s.TLSAddr = addr(base), addr(base+1)
		conf := s.config("h2o.conf", fmt.Sprintf(`num-threads: 1
temp-buffer-path: %[6]q
listen: {host: %[1]s, port: %[2]d}
hosts:
  default:
    listen: {host: %[1]s, port: %[3]d, ssl: {certificate-file: %[4]q, key-file: %[5]q, ocsp-update-interval: 0}}
    paths: {"/": {file.dir: %[7]q, file.dirlisting: ON}}
`, host, base, base+1, s.Cert.File, key, os.TempDir(), s.Root))
		return command{path: program, args: []string{"-m", "worker", "-c", conf}, user: account}
	})
}
