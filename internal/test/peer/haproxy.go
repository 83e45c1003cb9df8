package peer

import (
	"fmt"
	"path/filepath"
)

// HAProxy starts the reverse proxy HAProxy (Debian haproxy). It forwards requests
// to the web server at the address origin. It answers 503 if the origin is down.
func HAProxy(t TB, origin string) *Server {
	t.Helper()
	program := Need(t, "haproxy", "haproxy")
	s := newServer(t)
	s.certify(nil)
	pem, err := pemOf(s.Cert)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	file := filepath.Join(s.Dir, "both.pem")
	s.write(file, pem, 0o600, "")
	return s.start(func(base uint16) command {
		s.Addr, s.TLSAddr = addr(base), addr(base+1)
		conf := s.config("haproxy.cfg", fmt.Sprintf(`global
	nbthread 1
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend web
	bind %s
	bind %s ssl crt %s alpn h2,http/1.1
	default_backend origin
backend origin
	server origin %s
`, s.Addr, s.TLSAddr, file, origin))
		return command{path: program, args: []string{"-db", "-f", conf}}
	})
}
