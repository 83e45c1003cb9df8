package clientflags

import (
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/schemes/sftp"
)

// sshFlags are the flags that determine which keys of SSH servers are trusted.
type sshFlags struct {
	knownHosts string
	hostKey    string
}

func (f *sshFlags) register(s *options.Set) {
	p := s.Section("SSH")
	p.StringVar(&f.knownHosts, "knownhosts", "", "read the keys of SSH servers from `FILE` (default ~/.ssh/known_hosts)")
	p.StringVar(&f.hostKey, "hostpubsha256", "", "accept only the SSH server whose key has the SHA-256 `DIGEST` (base64)")
}

// options converts the flags to options of the sftp package. The argument key is
// the file of --key.
func (f *sshFlags) options(key string) sftp.Options {
	o := sftp.Options{HostKey: f.hostKey, Key: key}
	if f.knownHosts != "" {
		o.KnownHosts = []string{f.knownHosts}
	}
	return o
}
