package peer

import (
	"fmt"
	"strings"
)

// LighttpdOptions configures lighttpd. By default, lighttpd serves Root with
// directory listings on a plaintext port.
type LighttpdOptions struct {
	Config []string // further lines: `server.kbytes-per-second = 64`
}

// Lighttpd starts the web server lighttpd (Debian lighttpd) without TLS.
func Lighttpd(t TB, opts LighttpdOptions) *Server {
	t.Helper()
	program := Need(t, "lighttpd", "lighttpd")
	s := newServer(t)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		lines := []string{
			`server.modules = ("mod_dirlisting")`,
			fmt.Sprintf("server.bind = %q\nserver.port = %d", host, base),
			fmt.Sprintf("server.document-root = %q\nserver.upload-dirs = (%q)", s.Root, s.Dir),
			`dir-listing.activate = "enable"`,
			`mimetype.assign = (".html" => "text/html", ".txt" => "text/plain", "" => "application/octet-stream")`,
		}
		conf := s.config("lighttpd.conf", strings.Join(append(lines, opts.Config...), "\n")+"\n")
		return command{path: program, args: []string{"-D", "-f", conf}, user: unprivileged()}
	})
}
