package peer

import "strconv"

// Microsocks starts the proxy microsocks (Debian microsocks) with SOCKS5, with
// or without a login. It does not support SOCKS4.
func Microsocks(t TB, opts ProxyOptions) *Server {
	t.Helper()
	program := Need(t, "microsocks", "microsocks")
	s := newServer(t)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		args := []string{"-i", host, "-p", strconv.Itoa(int(base))}
		if opts.Login {
			args = append(args, "-u", User, "-P", Password)
		}
		return command{path: program, args: append(args, opts.Config...), user: unprivileged()}
	})
}
