package peer

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
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

// Dropbear starts the SSH server dropbear (Debian dropbear-bin), which runs the
// sftp server of OpenSSH. It accepts the password of User, and UserKey.
func Dropbear(t TB) *SSH {
	t.Helper()
	program := Need(t, "dropbear", "dropbear-bin")
	packageRoot(t, "openssh-sftp-server", "usr/lib/sftp-server")
	NeedRoot(t, "dropbear")
	s := &SSH{Server: newServer(t)}
	env := s.accounts(nil)
	host := s.sshKey("host_key")
	s.convertKey("host_key")
	s.UserKey = filepath.Join(s.Dir, "user_key")
	s.HostKey = ssh.FingerprintSHA256(host)
	keys := filepath.Join(s.Home, ".ssh")
	for _, dir := range []string{s.Home, keys} {
		s.mkdir(dir, unprivileged())
	}
	s.write(filepath.Join(keys, "authorized_keys"), ssh.MarshalAuthorizedKey(s.sshKey("user_key")), 0o600, unprivileged())
	s.start(func(base uint16) command {
		s.Addr = addr(base)
		s.KnownHosts = s.config("known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", base, ssh.MarshalAuthorizedKey(host)))
		return command{path: program, env: env,
			args: []string{"-F", "-E", "-p", s.Addr, "-r", filepath.Join(s.Dir, "host_key"), "-P", filepath.Join(s.Dir, "pid")}}
	})
	return s
}

// convertKey converts a private key in Dir to the format of dropbear.
func (s *Server) convertKey(name string) {
	s.t.Helper()
	program, file := Need(s.t, "dropbearconvert", "dropbear-bin"), filepath.Join(s.Dir, name)
	if out, err := exec.Command(program, "openssh", "dropbear", file, file+".new").CombinedOutput(); err != nil {
		s.t.Fatalf("peer: dropbearconvert: %v: %s", err, out)
	}
	if err := os.Rename(file+".new", file); err != nil {
		s.t.Fatalf("peer: %v", err)
	}
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
