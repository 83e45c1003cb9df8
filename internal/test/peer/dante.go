package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Dante starts the proxy danted (Debian dante-server) with SOCKS4 and SOCKS5,
// but without SOCKS4a. If Login is set, SOCKS5 requires a login and SOCKS4 is
// rejected. The log contains all connections.
func Dante(t TB, opts ProxyOptions) *Server {
	t.Helper()
	program := Need(t, "danted", "dante-server")
	NeedRoot(t, "danted")
	s := newServer(t)
	method, env := "none", []string(nil)
	if opts.Login {
		method, env = "username", s.accounts(nil)
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		conf := s.config("danted.conf", fmt.Sprintf(danteConfig, host, base, method, strings.Join(opts.Config, "\n")))
		return command{path: program, args: []string{"-f", conf, "-p", filepath.Join(s.Dir, "pid")}, env: env}
	})
}

const danteConfig = `
logoutput: stderr
internal: %s port = %d
external: lo
clientmethod: none
socksmethod: %s
user.privileged: root
user.unprivileged: nobody
%s
client pass {
	from: 0.0.0.0/0 to: 0.0.0.0/0
}
socks pass {
	from: 0.0.0.0/0 to: 0.0.0.0/0
	log: connect error
}
`
