package peer

import (
	"fmt"
	"strings"
)

// DNS starts the DNS server unbound (Debian unbound), which answers on Addr with
// the given records, such as "host.test. A 127.0.0.1", over UDP and TCP. It
// queries no other server. In front of it, dnsdist (Debian dnsdist) answers DNS
// over HTTPS on TLSAddr, at the path /dns-query.
func DNS(t TB, records ...string) *Server {
	t.Helper()
	backend, front := Need(t, "unbound", "unbound"), Need(t, "dnsdist", "dnsdist")
	s := newServer(t)
	s.certify(nil)
	return s.start(func(base uint16) command {
		s.Addr, s.TLSAddr = addr(base), addr(base+1)
		var data strings.Builder
		for _, r := range records {
			fmt.Fprintf(&data, "\tlocal-data: '%s'\n", r)
		}
		conf := s.config("unbound.conf", fmt.Sprintf(`server:
	interface: 127.0.0.1@%d
	access-control: 127.0.0.0/8 allow
	directory: "%s"
	chroot: ""
	username: ""
	pidfile: ""
	use-syslog: no
	do-daemonize: no
	module-config: "iterator"
	num-threads: 1
	local-zone: "." static
%sremote-control:
	control-enable: no
`, base, s.Dir, data.String()))
		lua := s.config("dnsdist.conf", fmt.Sprintf(`setSecurityPollSuffix("")
setLocal("%s")
addDOHLocal("%s", "%s", "%s", "/dns-query")
newServer{address="%s"}:setUp()
`, addr(base+2), s.TLSAddr, s.Cert.File, s.Cert.KeyFile, s.Addr))
		return command{path: backend, args: []string{"-d", "-c", conf},
			with: []command{{path: front, args: []string{"--supervised", "--disable-syslog", "-C", lua}}}}
	})
}
