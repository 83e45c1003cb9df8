package sftp

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

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
	var known, revoked []hostKey
	for _, name := range existing(files) {
		err := readHostKeys(name, func(k hostKey) {
			switch {
			case k.marker == "revoked":
				revoked = append(revoked, k)
			case k.marker == "" && matchesHost(k.hosts, server):
				known = append(known, k)
			}
		})
		if err != nil {
			return fetch.Local.Errorf("known hosts: %w", err)
		}
	}
	for _, k := range known {
		t.algorithms = append(t.algorithms, algorithmsFor(k.Type())...)
	}
	t.verify = func(_ string, _ net.Addr, key ssh.PublicKey) error {
		switch k, isRevoked := findKey(revoked, key); {
		case isRevoked:
			t.err = fetch.TLS.Errorf("the %s key of %s is revoked in %s, line %d", key.Type(), server.Address(), k.file, k.line)
		default:
			if _, ok := findKey(known, key); !ok {
				t.err = rejection(known, server, key)
			}
		}
		return t.err
	}
	return nil
}

// algorithmsFor returns the signature algorithms of a type of keys.
func algorithmsFor(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{keyType}
}

// rejection returns the error for a server with another key than the known ones.
func rejection(known []hostKey, server fetch.Target, key ssh.PublicKey) error {
	digest := ssh.FingerprintSHA256(key)
	if len(known) > 0 {
		return fetch.TLS.Errorf("the key of %s has changed: it is %s (%s), but %s, line %d has another key. This may be an attack",
			server.Address(), digest, key.Type(), known[0].file, known[0].line)
	}
	return override.With(fetch.TLS.Errorf("the key of %s is not known: %s (%s)", server.Address(), digest, key.Type()),
		override.Setting{Kind: OverrideHostKey, Value: digest})
}
