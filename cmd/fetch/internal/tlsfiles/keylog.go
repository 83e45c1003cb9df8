package tlsfiles

import (
	"cmp"
	"crypto/tls"
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// KeyLogVariable is the environment variable with the name of the file for the
// secrets of TLS connections, as in curl and browsers.
const KeyLogVariable = "SSLKEYLOGFILE"

// OpenKeyLog opens the file to which TLS secrets are appended, so that programs
// such as Wireshark can decrypt a recording. The result is nil if name is "". The
// file must not belong to another user, who may have created it in /tmp to read the
// secrets. The same applies to a link.
func OpenKeyLog(name string) (io.WriteCloser, error) {
	if name == "" {
		return nil, nil
	}
	if info, err := os.Stat(name); err != nil || info.Mode()&os.ModeDevice == 0 {
		if _, owned, err := regularfile.OwnTarget(name); err != nil || !owned {
			return nil, cmp.Or(err, fetch.Local.Errorf("%s belongs to another user", name))
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// WithKeyLog returns a copy of c that writes the secrets of its connections to
// w. If c is nil, the copy has the defaults.
func WithKeyLog(c *tls.Config, w io.Writer) *tls.Config {
	if c = c.Clone(); c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	c.KeyLogWriter = w
	return c
}
