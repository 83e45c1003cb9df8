package peer

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// SelfservOptions configures the server selfserv.
type SelfservOptions struct {
	Cert   *Cert    // with the name of the server and the public name
	Public string   // public name of the key for Encrypted Client Hello; "" means no key
	Args   []string // further arguments
}

// Selfserv starts the server of NSS of Debian 13 (Debian libnss3-tools), whose TLS is
// independent of package crypto/tls. It answers each request with a copy of the
// request. Selfserv returns the server and the ECHConfigList of its key.
func Selfserv(t TB, opts SelfservOptions) (s *Server, list []byte) {
	t.Helper()
	path, args := Newer(t, "usr/bin/selfserv")
	s = newServer(t)
	s.Cert = opts.Cert
	db := "sql:" + s.nssDatabase()
	s.isolated(func() command {
		args := append([]string{"-oL", path}, args...) // the list is printed on standard output
		args = append(args, "-e", "peer", "-d", db, "-p", strconv.Itoa(int(s.Port)), "-V", "tls1.2:tls1.3", "-Q")
		if opts.Public != "" {
			args = append(args, "-X", "publicname:"+opts.Public)
		}
		return command{path: Need(t, "stdbuf", "coreutils"), args: append(args, opts.Args...)}
	})
	if opts.Public == "" {
		return s, nil
	}
	err := retry(func() error {
		list = echList(s.Log())
		if list == nil {
			return errors.New("no list of keys")
		}
		return nil
	})
	if err != nil {
		t.Fatalf("peer: selfserv: %v: %s", err, s.Log())
	}
	return s, list
}

// nssDatabase writes the certificate to a database of NSS, and returns its folder.
func (s *Server) nssDatabase() string {
	s.t.Helper()
	dir, bundle := filepath.Join(s.Dir, "nss"), filepath.Join(s.Dir, "peer.p12")
	s.mkdir(dir, "")
	certutil, first := Newer(s.t, "usr/bin/certutil")
	pk12util, second := Newer(s.t, "usr/bin/pk12util")
	output(s.t, exec.Command(certutil, append(first, "-N", "--empty-password", "-d", "sql:"+dir)...))
	output(s.t, exec.Command(Need(s.t, "openssl", "openssl"), "pkcs12", "-export", "-in", s.Cert.File, "-inkey", s.Cert.KeyFile,
		"-name", "peer", "-passout", "pass:", "-out", bundle))
	output(s.t, exec.Command(pk12util, append(second, "-i", bundle, "-d", "sql:"+dir, "-W", "")...))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		err = errors.Join(err, os.Chmod(f, 0o644)) // the server runs without root privileges
	}
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	return dir
}

// echList returns the ECHConfigList in the output of selfserv, or nil.
func echList(log string) []byte {
	for line := range strings.Lines(log) {
		list, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		if err == nil && len(list) > 4 && list[2] == 0xfe && list[3] == 0x0d {
			return list
		}
	}
	return nil
}

// ECHRelay starts an ECHServer that forwards connections to the server at addr.
func ECHRelay(t TB, addr string) *ECHServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	s := &ECHServer{Addr: l.Addr().String()}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // closed
			}
			if far, err := net.Dial("tcp", addr); err == nil {
				go relay(near, far, s.record())
			} else {
				near.Close()
			}
		}
	}()
	t.Cleanup(func() { l.Close() })
	return s
}

// relay copies both directions of a connection. It also writes the bytes from the
// client near to record. The end of a direction does not end the other one.
func relay(near, far net.Conn, record io.Writer) {
	defer near.Close()
	defer far.Close()
	received := make(chan struct{})
	go func() {
		defer close(received)
		io.Copy(far, io.TeeReader(near, record))
		far.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(near, far)
	near.(*net.TCPConn).CloseWrite()
	<-received
}
