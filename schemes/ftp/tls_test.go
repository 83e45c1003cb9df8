package ftp_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"

	library "github.com/jlaffaye/ftp"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
)

// trusting makes a client believe the certificate of a server.
func trusting(s *peer.Server, version uint16) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.TLS = &tls.Config{RootCAs: s.Cert.Pool, MinVersion: version, MaxVersion: version}
	}
}

var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// bring retrieves three files and a listing, on one session.
func bring(t *testing.T, s *peer.Server, c *fetch.Client, base string) {
	t.Helper()
	big := bytes.Repeat([]byte("0123456789abcde\n"), 1<<14)
	s.Put("motd", []byte("hello\n"))
	s.Put("empty", nil)
	s.Put("big", big)
	for _, f := range []struct{ name, want string }{{"motd", "hello\n"}, {"big", string(big)}, {"empty", ""}, {"motd", "hello\n"}} {
		if got := get(t, c, base+"/"+f.name); got != f.want {
			t.Errorf("%s: got %d bytes, want %d", f.name, len(got), len(f.want))
		}
	}
	if list := get(t, c, base+"/"); !strings.Contains(list, "motd") {
		t.Errorf("listing %q", list)
	}
}

// TestExplicit: AUTH TLS, with data connections that resume the session of
// the control connection, without which vsftpd and proftpd refuse them.
func TestExplicit(t *testing.T) {
	onServers(t, peer.FTPOptions{TLS: true}, func(t *testing.T, s *peer.Server) {
		for name, version := range versions {
			t.Run(name, func(t *testing.T) {
				c := client(t, ftp.Options{TLS: scheme.TLSRequired}, trusting(s, version))
				bring(t, s, c, "ftp://"+s.Addr)
				resp, err := c.Get(t.Context(), "ftp://"+s.Addr+"/motd")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.TLS == nil || resp.TLS.Version != version {
					t.Errorf("TLS state %+v", resp.TLS)
				}
			})
		}
		t.Run("clear data", func(t *testing.T) {
			bring(t, s, client(t, ftp.Options{TLS: scheme.TLSRequired, ClearData: true}, trusting(s, tls.VersionTLS13)), "ftp://"+s.Addr)
		})
		t.Run("active", func(t *testing.T) {
			bring(t, s, client(t, ftp.Options{TLS: scheme.TLSRequired, Active: "-"}, trusting(s, tls.VersionTLS13)), "ftp://"+s.Addr)
		})
		t.Run("account", func(t *testing.T) {
			c := client(t, ftp.Options{TLS: scheme.TLSRequired}, trusting(s, tls.VersionTLS13))
			s.PutHome("private", []byte("mine\n"))
			if got := get(t, c, "ftp://"+peer.User+":"+peer.Password+"@"+s.Addr+"/private"); got != "mine\n" {
				t.Errorf("got %q", got)
			}
		})
	})
}

// TestSessionReuse: a server that refuses a data connection which does not
// resume the session of the control connection.
func TestSessionReuse(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{TLS: true, Config: []string{"require_ssl_reuse=YES"}})
	for name, version := range versions {
		t.Run(name, func(t *testing.T) {
			bring(t, s, client(t, ftp.Options{TLS: scheme.TLSRequired}, trusting(s, version)), "ftp://"+s.Addr)
		})
	}
	// The library has no cache of sessions unless it is given one.
	c := dialLibrary(t, s, library.DialWithExplicitTLS(&tls.Config{RootCAs: s.Cert.Pool, ServerName: "localhost"}))
	r, err := c.Retr("motd")
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "session reuse required") {
		t.Errorf("the server takes data connections without: %v", err)
	}
}

func TestImplicit(t *testing.T) {
	for name, start := range map[string]func(peer.TB, peer.FTPOptions) *peer.Server{"vsftpd": peer.Vsftpd, "proftpd": peer.Proftpd} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, peer.FTPOptions{Implicit: true})
			for version, number := range versions {
				t.Run(version, func(t *testing.T) {
					bring(t, s, client(t, ftp.Options{}, trusting(s, number)), "ftps://"+s.TLSAddr)
				})
			}
		})
	}
}

// TestUntrusted: what cannot be proved is not spoken to, and never in clear.
func TestUntrusted(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{TLS: true})
	for name, opts := range map[string]ftp.Options{"wanted": {TLS: scheme.TLSWanted}, "required": {TLS: scheme.TLSRequired}} {
		c := client(t, opts)
		if resp, err := c.Get(t.Context(), "ftp://alice:secret@"+s.Addr+"/motd"); !errors.Is(err, fetch.TLS) {
			t.Errorf("%s: got %v, %v, want an error of TLS", name, resp, err)
		}
	}
	if log := s.Log(); strings.Contains(log, "USER") {
		t.Errorf("a name was told:\n%s", log)
	}
}

// TestNoTLS: a server without TLS.
func TestNoTLS(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		s.Put("motd", []byte("hello\n"))
		if got := get(t, client(t, ftp.Options{TLS: scheme.TLSWanted}), "ftp://"+s.Addr+"/motd"); got != "hello\n" {
			t.Errorf("wanted: got %q", got)
		}
		if resp, err := client(t, ftp.Options{TLS: scheme.TLSRequired}).Get(t.Context(), "ftp://"+s.Addr+"/motd"); !errors.Is(err, fetch.TLS) {
			t.Errorf("required: got %v, %v", resp, err)
		}
	})
}
