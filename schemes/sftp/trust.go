package sftp

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// OverrideHostKey is the setting that accepts an unknown key of a server. Its
// value is the digest of the key.
const OverrideHostKey override.Kind = "sftp.Options.HostKey"

// A trust verifies the key of a server.
type trust struct {
	verify     ssh.HostKeyCallback
	algorithms []string // types of the known keys; nil: all
	err        error    // why the server was rejected
}

// trust returns the trust for a server. If config disables the verification,
// all servers are accepted.
func (o Options) trust(t fetch.Target, config *tls.Config) (*trust, error) {
	tr := &trust{}
	switch {
	case config != nil && config.InsecureSkipVerify:
		tr.verify = ssh.InsecureIgnoreHostKey()
	case o.HostKey != "":
		want := "SHA256:" + strings.TrimRight(strings.TrimPrefix(o.HostKey, "SHA256:"), "=")
		tr.verify = func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if got := ssh.FingerprintSHA256(key); got != want {
				tr.err = fetch.TLS.Errorf("the %s key of the server is %s, not %s", key.Type(), got, want)
			}
			return tr.err
		}
	default:
		return tr, tr.useFiles(o.KnownHosts, t)
	}
	return tr, nil
}

// useFiles makes t verify the key of the server against known_hosts files.
func (t *trust) useFiles(files []string, server fetch.Target) error {
	if files == nil {
		files = []string{"/etc/ssh/ssh_known_hosts"}
		if dir := folder(); dir != "" {
			files = append(files, filepath.Join(dir, "known_hosts"))
		}
	}
	known, err := knownhosts.New(existing(files)...)
	if err != nil {
		return fetch.Local.Errorf("known hosts: %w", err)
	}
	keys, err := hostKeys(known, server)
	if err != nil {
		return err
	}
	for _, k := range keys {
		t.algorithms = append(t.algorithms, algorithmsFor(k.Key.Type())...)
	}
	t.verify = func(_ string, remote net.Addr, key ssh.PublicKey) error {
		err := known(server.Address(), remote, key)
		if revoked := new(knownhosts.RevokedError); !errors.As(err, &revoked) {
			err = checkKey(keys, key)
		}
		if err != nil {
			t.err = rejection(err, server, key)
		}
		return t.err
	}
	return nil
}

// checkKey returns an error if key is not one of the known keys of a server.
func checkKey(known []knownhosts.KnownKey, key ssh.PublicKey) error {
	for _, k := range known {
		if bytes.Equal(k.Key.Marshal(), key.Marshal()) {
			return nil
		}
	}
	return &knownhosts.KeyError{Want: known}
}

// A noKey is a key that no server has. The error for it lists the known keys.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

// sshPort is the port to which lines of known_hosts without a port apply.
const sshPort = 22

// hostKeys returns the known keys of a server. Without this list, the server
// could also present a key of another type, which is not in the file.
func hostKeys(known ssh.HostKeyCallback, server fetch.Target) (keys []knownhosts.KnownKey, err error) {
	ports := []uint16{server.Port}
	if server.Port != sshPort {
		ports = append(ports, sshPort) // for lines with the pattern "*"
	}
	for i, port := range ports {
		server.Port = port
		var mismatch *knownhosts.KeyError
		if err := known(server.Address(), &net.TCPAddr{IP: net.IPv4zero}, noKey{}); !errors.As(err, &mismatch) {
			continue
		}
		for _, k := range mismatch.Want {
			l, err := lineOf(k)
			if err != nil {
				return nil, fetch.Local.Errorf("known hosts: %w", err)
			}
			if !l.authority && (i == 0 || l.everyHost) {
				keys = append(keys, k)
			}
		}
	}
	return keys, nil
}

// A hostLine contains properties of a line of known_hosts that package
// knownhosts ignores.
type hostLine struct {
	authority bool // the key signs certificates of hosts, and is no key of a host
	everyHost bool // the line has the pattern "*", which matches all ports too
}

// lineOf reads the line of a key.
func lineOf(k knownhosts.KnownKey) (l hostLine, err error) {
	f, err := os.Open(k.Filename)
	if err != nil {
		return l, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for number := 1; ; number++ {
		text, err := lines.ReadString('\n')
		if number == k.Line {
			fields := append(strings.Fields(text), "")
			if l.authority = fields[0] == "@cert-authority"; !l.authority {
				l.everyHost = slices.Contains(strings.Split(fields[0], ","), "*")
			}
			return l, nil
		}
		if err != nil {
			return l, err
		}
	}
}

// algorithmsFor returns the signature algorithms of a type of keys.
func algorithmsFor(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{keyType}
}

// rejection returns the error for a server whose key is not trusted.
func rejection(err error, server fetch.Target, key ssh.PublicKey) error {
	digest := ssh.FingerprintSHA256(key)
	var mismatch *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &revoked):
		return fetch.TLS.Errorf("the %s key of %s is revoked in %s, line %d", key.Type(), server.Address(), revoked.Revoked.Filename, revoked.Revoked.Line)
	case errors.As(err, &mismatch) && len(mismatch.Want) > 0:
		line := mismatch.Want[0]
		return fetch.TLS.Errorf("the key of %s has changed: it is %s (%s), but %s, line %d has another key. This may be an attack",
			server.Address(), digest, key.Type(), line.Filename, line.Line)
	case errors.As(err, &mismatch):
		return override.With(fetch.TLS.Errorf("the key of %s is not known: %s (%s)", server.Address(), digest, key.Type()),
			override.Setting{Kind: OverrideHostKey, Value: digest})
	}
	return fetch.TLS.Errorf("the key of %s is not accepted: %w", server.Address(), err)
}
