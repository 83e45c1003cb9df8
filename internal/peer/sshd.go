package peer

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// SSHDOptions configures OpenSSH. By default, it accepts the password of User
// and the key in Server.Dir/user_key.
type SSHDOptions struct {
	Config []string // further lines, such as "MaxSessions 1"
}

// An SSH is a running OpenSSH server.
type SSH struct {
	*Server
	KnownHosts string // path of a known_hosts file with the host key
	HostKey    string // fingerprint of the host key, such as "SHA256:..."
	UserKey    string // path of a private key that the server accepts for User
}

// SSHD starts the SSH server OpenSSH (Debian openssh-server) with the sftp
// subsystem. Paths in URLs are paths of this machine, such as Root. The home
// directory of User is Home.
func SSHD(t TB, opts SSHDOptions) *SSH {
	t.Helper()
	program := Need(t, "sshd", "openssh-server")
	NeedRoot(t, "sshd")
	s := &SSH{Server: newServer(t)}
	env := s.accounts(nil)
	s.mkdir("/run/sshd", "") // the server demands this directory
	host := s.sshKey("host_key")
	s.UserKey = filepath.Join(s.Dir, "user_key")
	s.config("authorized_keys", string(ssh.MarshalAuthorizedKey(s.sshKey("user_key"))))
	s.HostKey = ssh.FingerprintSHA256(host)
	s.start(func(base uint16) command {
		s.Addr = addr(base)
		s.KnownHosts = s.config("known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", base, ssh.MarshalAuthorizedKey(host)))
		lines := []string{
			"ListenAddress " + s.Addr,
			"HostKey " + filepath.Join(s.Dir, "host_key"),
			"PidFile none",
			"AuthorizedKeysFile " + filepath.Join(s.Dir, "authorized_keys"),
			"StrictModes no",
			"UsePAM no",
			"UseDNS no",
			"MaxStartups 100",
			"Subsystem sftp internal-sftp",
		}
		text := strings.Join(append(lines, opts.Config...), "\n") + "\n"
		return command{path: program, args: []string{"-D", "-e", "-f", s.config("sshd_config", text)}, env: env}
	})
	return s
}

// sshKey creates a private key in Dir, and returns its public key.
func (s *Server) sshKey(name string) ssh.PublicKey {
	s.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	s.write(filepath.Join(s.Dir, name), pem.EncodeToMemory(block), os.FileMode(0o600), "")
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	return key
}
