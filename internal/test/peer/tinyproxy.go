package peer

import (
	"fmt"
	"strings"
)

// Tinyproxy starts the HTTP proxy tinyproxy (Debian tinyproxy-bin), which
// allows CONNECT to every port. "ConnectPort 0" in Config disables CONNECT. The
// log contains all requests.
func Tinyproxy(t TB, opts ProxyOptions) *Server {
	t.Helper()
	program := Need(t, "tinyproxy", "tinyproxy-bin")
	s := newServer(t)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		lines := []string{
			"Listen " + host, fmt.Sprintf("Port %d", base),
			"Timeout 60", "MaxClients 50", "LogLevel Connect",
		}
		if opts.Login {
			lines = append(lines, "BasicAuth "+User+" "+Password)
		}
		conf := s.config("tinyproxy.conf", strings.Join(append(lines, opts.Config...), "\n")+"\n")
		return command{path: program, args: []string{"-d", "-c", conf}, user: unprivileged()}
	})
}
