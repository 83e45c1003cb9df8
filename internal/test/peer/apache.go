package peer

import (
	"crypto/md5"
	"fmt"
	"path/filepath"
	"strings"
)

// ApacheOptions configures apache2. By default it serves Root with fancy
// indexes and content negotiation on a plaintext port.
type ApacheOptions struct {
	TLS    bool     // also listen on TLSAddr
	HTTP2  bool     // offer h2 besides http/1.1 on TLSAddr; implies TLS
	Cert   *Cert    // nil: NewCert with zero options
	Login  string   // "Basic" or "Digest": only User with Password may read Root
	Config []string // further directives: "Header set X-Test yes"
	Env    []string // added to the environment
}

// Apache starts apache2 (Debian apache2-bin). A file named *.asis below Root is
// sent as a complete response with its header. An executable file named *.cgi
// is a CGI script. The log contains all requests.
func Apache(t TB, opts ApacheOptions) *Server {
	t.Helper()
	program := Need(t, "apache2", "apache2-bin")
	s := newServer(t)
	if opts.TLS || opts.HTTP2 {
		s.certify(opts.Cert)
	}
	account := unprivileged()
	run := filepath.Join(s.Dir, "run")
	s.mkdir(run, account)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		if s.Cert != nil {
			s.TLSAddr = addr(base + 1)
		}
		conf := s.config("apache.conf", apacheConfig(s, run, opts))
		return command{path: program, args: []string{"-D", "FOREGROUND", "-d", s.Dir, "-f", conf}, user: account, env: opts.Env}
	})
}

const apacheRealm = "peer"

func apacheConfig(s *Server, run string, opts ApacheOptions) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, m := range strings.Fields(`mpm_event authn_core authn_file authz_core authz_host authz_user auth_basic
		auth_digest alias asis autoindex brotli cgid deflate dir env filter headers http2 mime negotiation
		ratelimit rewrite setenvif socache_shmcb ssl`) {
		add("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so", m, m)
	}
	add("ServerName localhost\nListen %s", s.Addr)
	add("PidFile %s/pid\nDefaultRuntimeDir %s\nScriptSock %s/cgi\nMutex file:%s default", run, run, run, run)
	add("ErrorLog /proc/self/fd/2\nTransferLog /proc/self/fd/2")
	add("StartServers 1\nMinSpareThreads 1\nMaxSpareThreads 50\nThreadsPerChild 25\nMaxRequestWorkers 50")
	add("TypesConfig /etc/mime.types\nAddHandler send-as-is .asis\nAddHandler cgi-script .cgi")
	add("DocumentRoot %s\n<Directory %s>\nOptions Indexes MultiViews ExecCGI FollowSymLinks\nIndexOptions FancyIndexing\n%s\n</Directory>",
		s.Root, s.Root, apacheAccess(s, opts.Login))
	if s.Cert != nil {
		add("Listen %s\n<VirtualHost %s>", s.TLSAddr, s.TLSAddr)
		add("SSLEngine on\nSSLCertificateFile %s\nSSLCertificateKeyFile %s", s.Cert.File, s.Cert.KeyFile)
		if opts.HTTP2 {
			add("Protocols h2 http/1.1")
		}
		add("</VirtualHost>")
	}
	return strings.Join(append(lines, opts.Config...), "\n") + "\n"
}

func apacheAccess(s *Server, login string) string {
	var users, provider string
	switch login {
	case "":
		return "Require all granted"
	case "Basic":
		provider = "AuthBasicProvider file"
		users = User + ":" + s.crypt(Password)
	case "Digest": // RFC 7616 section 3.4.2: A1
		provider = "AuthDigestProvider file"
		who := User + ":" + apacheRealm + ":"
		users = who + fmt.Sprintf("%x", md5.Sum([]byte(who+Password)))
	default:
		s.t.Fatalf("peer: apache knows no login %q", login)
	}
	file := s.config("users", users+"\n")
	return fmt.Sprintf("AuthType %s\nAuthName %s\n%s\nAuthUserFile %s\nRequire valid-user", login, apacheRealm, provider, file)
}
