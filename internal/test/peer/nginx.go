package peer

import (
	"fmt"
	"strings"
)

// NginxOptions configures nginx. By default, nginx serves Root with directory
// listings on a plaintext port.
type NginxOptions struct {
	TLS    bool   // also listen on TLSAddr
	HTTP2  bool   // offer h2 besides http/1.1 on TLSAddr; implies TLS
	IPv6   bool   // also listen on the same ports of [::1]
	Cert   *Cert  // nil: NewCert with zero options
	Rate   string // limit_rate of each response in bytes a second: "100k"
	Server string // further directives of the server block, each with its ";"
	HTTP   string // further directives of the http block
}

// Nginx starts the web server nginx (Debian nginx-light). Log returns its error
// log, which does not contain requests.
func Nginx(t TB, opts NginxOptions) *Server {
	t.Helper()
	program := Need(t, "nginx", "nginx-light")
	s := newServer(t)
	if opts.TLS || opts.HTTP2 {
		s.certify(opts.Cert)
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		if s.Cert != nil {
			s.TLSAddr = addr(base + 1)
		}
		conf := s.config("nginx.conf", nginxConfig(s, opts))
		return command{path: program, args: []string{"-p", s.Dir, "-c", conf, "-e", "stderr"}}
	})
}

func nginxConfig(s *Server, opts NginxOptions) string {
	var server strings.Builder
	listen := func(addr, how string) {
		fmt.Fprintf(&server, "listen %s%s;\n", addr, how)
		if opts.IPv6 {
			fmt.Fprintf(&server, "listen [::1]:%d%s;\n", port(addr), how)
		}
	}
	listen(s.Addr, "")
	if s.Cert != nil {
		how := " ssl"
		if opts.HTTP2 {
			how += " http2"
		}
		listen(s.TLSAddr, how)
		fmt.Fprintf(&server, "ssl_certificate %s;\nssl_certificate_key %s;\n", s.Cert.File, s.Cert.KeyFile)
	}
	if opts.Rate != "" {
		fmt.Fprintf(&server, "limit_rate %s;\n", opts.Rate)
	}
	server.WriteString(opts.Server)
	return fmt.Sprintf(`
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
	include /etc/nginx/mime.types;
	default_type application/octet-stream;
	access_log off;
	sendfile on;
	client_body_temp_path tmp;
	proxy_temp_path tmp;
	fastcgi_temp_path tmp;
	uwsgi_temp_path tmp;
	scgi_temp_path tmp;
	%s
	server {
		root %s;
		autoindex on;
		%s
	}
}
`, opts.HTTP, s.Root, server.String())
}
