package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Squid starts the proxy squid (Debian squid), an HTTP proxy that supports
// CONNECT and retrieves ftp URLs. It has no cache. The log contains all
// requests.
func Squid(t TB, opts ProxyOptions) *Server {
	t.Helper()
	program := Need(t, "squid", "squid")
	s := newServer(t)
	if opts.TLS {
		s.certify(opts.Cert)
	}
	account := unprivileged()
	log := s.configFor("access.log", "", account)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		lines := []string{
			"http_port " + s.Addr, "visible_hostname localhost", "pid_filename none", "coredump_dir none",
			"cache deny all", "pinger_enable off", "shutdown_lifetime 0 seconds",
			"cache_log stdio:/dev/stderr", "access_log stdio:" + log,
		}
		if s.Cert != nil {
			s.TLSAddr = addr(base + 1)
			lines = append(lines, fmt.Sprintf("https_port %s tls-cert=%s tls-key=%s", s.TLSAddr, s.Cert.File, s.Cert.KeyFile))
		}
		allowed := "all"
		if opts.Login {
			allowed = "login"
			lines = append(lines,
				"auth_param basic program /usr/lib/squid/basic_ncsa_auth "+s.config("passwd", User+":"+s.crypt(Password)+"\n"),
				"acl login proxy_auth REQUIRED")
		}
		lines = append(append(lines, opts.Config...), "http_access allow "+allowed)
		conf := s.config("squid.conf", strings.Join(lines, "\n")+"\n")
		// The service name is also a part of the names of squid's shared memory
		// files, which remain after the process has ended.
		name := fmt.Sprintf("fetchpeer%d", base)
		t.Cleanup(func() {
			s.Stop()
			segments, _ := filepath.Glob("/dev/shm/" + name + "-*")
			for _, path := range segments {
				os.Remove(path)
			}
		})
		return command{path: program, args: []string{"-N", "-n", name, "-f", conf}, user: account, env: opts.Env}
	})
}
