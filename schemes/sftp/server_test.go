package sftp_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	pkgsftp "github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/sftp"
)

// A server is an SSH server in memory. Its function sftp serves the channel of
// the sftp subsystem.
type server struct {
	keys   []ssh.Signer
	config ssh.ServerConfig
	sftp   func(io.ReadWriteCloser)
	deaf   bool // accepts connections, but sends nothing
	refuse bool // has no sftp subsystem
}

// newServer returns a server with one key, that accepts the user alice with the
// password s3cret.
func newServer(t testing.TB, serve func(io.ReadWriteCloser)) *server {
	s := &server{sftp: serve}
	s.keys = append(s.keys, newKey(t))
	s.config.PasswordCallback = func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
		if string(password) != "s3cret" {
			return nil, errors.New("wrong password")
		}
		return nil, nil
	}
	return s
}

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// options returns Options that accept the first key of the server.
func (s *server) options() sftp.Options {
	return sftp.Options{HostKey: ssh.FingerprintSHA256(s.keys[0].PublicKey()), Key: "/nonexistent"}
}

// dial is the field Dial of fetch.Options.
func (s *server) dial(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
	near, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.254:40000"), to)
	go s.serve(far)
	return near, nil
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	if s.deaf {
		io.Copy(io.Discard, conn)
		return
	}
	config := s.config
	for _, key := range s.keys {
		config.AddHostKey(key)
	}
	secure, channels, requests, err := ssh.NewServerConn(conn, &config)
	if err != nil {
		return
	}
	defer secure.Close()
	go ssh.DiscardRequests(requests)
	c, ok := <-channels
	if !ok {
		return
	}
	channel, requests, err := c.Accept()
	if err != nil {
		return
	}
	if r, ok := <-requests; ok {
		r.Reply(!s.refuse && r.Type == "subsystem" && string(r.Payload[4:]) == "sftp", nil)
	}
	go ssh.DiscardRequests(requests)
	s.sftp(channel)
}

// library serves the files below dir by the SFTP server of pkg/sftp, which
// answers requests in any order.
func library(dir string) func(io.ReadWriteCloser) {
	return func(channel io.ReadWriteCloser) {
		s, err := pkgsftp.NewServer(channel, pkgsftp.ReadOnly(), pkgsftp.WithServerWorkingDirectory(dir))
		if err == nil {
			s.Serve()
		}
	}
}

// scripted serves replies that do not depend on the contents of requests. The
// reply for each type of request is a packet without its length, in which the
// number of the request replaces the four bytes after the type.
func scripted(replies map[byte][]byte) func(io.ReadWriteCloser) {
	return func(channel io.ReadWriteCloser) {
		defer channel.Close()
		for {
			var head [4]byte
			if _, err := io.ReadFull(channel, head[:]); err != nil {
				return
			}
			request := make([]byte, binary.BigEndian.Uint32(head[:]))
			if _, err := io.ReadFull(channel, request); err != nil {
				return
			}
			reply, ok := replies[request[0]]
			if !ok {
				io.Copy(io.Discard, channel) // silent
				return
			}
			if reply == nil {
				return
			}
			out := append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...)
			if request[0] != 1 && len(reply) >= 5 {
				copy(out[5:9], request[1:5])
			}
			if _, err := channel.Write(out); err != nil {
				return
			}
		}
	}
}

// write creates a file below dir.
func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func withDial(s *server) func(*fetch.Options) {
	return func(o *fetch.Options) { o.Dial = s.dial }
}
