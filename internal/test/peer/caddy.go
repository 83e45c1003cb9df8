package peer

import "fmt"

// Caddy starts the web server Caddy (Debian caddy), which serves Root with
// directory listings: HTTP/1 on Addr, and HTTP/1 and HTTP/2 over TLS on TLSAddr.
func Caddy(t TB) *Server {
	t.Helper()
	program := Need(t, "caddy", "caddy")
	s := newServer(t)
	s.certify(nil)
	return s.start(func(base uint16) command {
		s.Addr, s.TLSAddr = addr(base), addr(base+1)
		conf := s.config("Caddyfile", fmt.Sprintf(`{
	admin off
	auto_https off
	servers {
		protocols h1 h2
	}
}
(files) {
	root * %[1]s
	file_server browse
}
http://%[2]s {
	import files
}
https://%[3]s {
	tls %[4]s %[5]s
	import files
}
`, s.Root, s.Addr, s.TLSAddr, s.Cert.File, s.Cert.KeyFile))
		return command{path: program, args: []string{"run", "--adapter", "caddyfile", "--config", conf},
			env: []string{"HOME=" + s.Dir, "XDG_DATA_HOME=" + s.Dir, "XDG_CONFIG_HOME=" + s.Dir}}
	})
}
