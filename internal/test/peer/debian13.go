package peer

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// debian13 is the name of the folder below unpacked that contains packages of
// Debian 13 and all libraries that they need.
const debian13 = "debian13@3"

// Newer returns the path and the first arguments of a command that runs a
// program of Debian 13, such as usr/bin/curl. If the program is missing, Newer
// skips the test. With CI=true in the environment, the test fails instead.
func Newer(t TB, program string) (path string, args []string) {
	t.Helper()
	skipShort(t, program)
	root := filepath.Join(unpacked, debian13)
	found, _ := filepath.Glob(root + "/usr/lib/*-linux-gnu/ld-linux-*.so.*")
	file := filepath.Join(root, program)
	if _, err := os.Stat(file); err != nil || len(found) != 1 {
		skip(t, "%s of Debian 13 is absent (make peers)", program)
	}
	return found[0], []string{"--library-path", filepath.Dir(found[0]), file}
}

// HTTP3Options configures a server for HTTP/3.
type HTTP3Options struct {
	Cert   *Cert  // nil: NewCert with zero options
	Server string // for nginx, further directives of the server block, each with its ";"
	NoTCP  bool   // for nginx, listen only on UDP
}

// NginxHTTP3 starts the nginx of Debian 13 (Debian nginx), which serves Root with HTTP/1 on Addr,
// and with HTTP/1, HTTP/2 and HTTP/3 on TLSAddr.
func NginxHTTP3(t TB, opts HTTP3Options) *Server {
	t.Helper()
	program, args := Newer(t, "usr/sbin/nginx")
	s := newServer(t)
	s.certify(opts.Cert)
	return s.start(func(base uint16) command {
		s.Addr, s.TLSAddr = addr(base), addr(base+1)
		if opts.NoTCP {
			opts.Server += " listen " + s.TLSAddr + " quic reuseport;"
			s.TLSAddr, s.UDPAddr = "", s.TLSAddr
		} else {
			opts.Server += " listen " + s.TLSAddr + " ssl; http2 on; listen " + s.TLSAddr + " quic reuseport;"
			s.UDPAddr = s.TLSAddr
		}
		conf := nginxConfig(&Server{Addr: s.Addr, Dir: s.Dir, Root: s.Root}, NginxOptions{Server: opts.Server +
			" ssl_certificate " + s.Cert.File + "; ssl_certificate_key " + s.Cert.KeyFile + ";"})
		file := s.config("nginx.conf", conf)
		return command{path: program, args: append(args, "-p", s.Dir, "-c", file, "-e", "stderr")}
	})
}

// GTLSServer starts the server of ngtcp2 (Debian ngtcp2-server), which serves
// Root with HTTP/3 on UDPAddr.
func GTLSServer(t TB) *Server {
	t.Helper()
	program, args := Newer(t, "usr/sbin/gtlsserver")
	s := newServer(t)
	s.certify(nil)
	return s.start(func(base uint16) command {
		s.UDPAddr = addr(base)
		host, port, _ := net.SplitHostPort(s.UDPAddr)
		s.accepts = func() error { return probeUDP(s.UDPAddr) }
		return command{path: program, args: append(args, "-q", "-d", s.Root, host, port, s.Cert.KeyFile, s.Cert.File)}
	})
}

// probeUDP returns an error if no program receives datagrams at an address.
func probeUDP(addr string) error {
	c, err := net.Dial("udp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte{0}); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(retryTime)); err != nil {
		return err
	}
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return nil
}
