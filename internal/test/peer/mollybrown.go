package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

// MollyBrownOptions configures the Gemini server molly-brown.
type MollyBrownOptions struct {
	Cert   *Cert    // nil: NewCert with zero options
	Config []string // further lines, such as a table of redirects
}

// MollyBrown starts the Gemini server molly-brown (Debian molly-brown), which
// serves Root. Files below cgi-bin are CGI programs. The server lists
// directories without a file index.gmi, and answers only requests for the host
// 127.0.0.1.
func MollyBrown(t TB, opts MollyBrownOptions) *Server {
	t.Helper()
	program := Need(t, "molly-brown", "molly-brown")
	s := newServer(t)
	s.certify(opts.Cert)
	s.mkdir(filepath.Join(s.Root, "cgi-bin"), "") // the server ignores folders that do not exist
	return s.isolated(func() command {
		lines := []string{
			fmt.Sprintf("Port = %d", s.Port),
			fmt.Sprintf("Hostname = %q", host),
			fmt.Sprintf("CertPath = %q", s.Cert.File),
			fmt.Sprintf("KeyPath = %q", s.Cert.KeyFile),
			fmt.Sprintf("DocBase = %q", s.Root),
			fmt.Sprintf("AccessLog = %q", filepath.Join(s.Dir, "access.txt")),
			fmt.Sprintf("ErrorLog = %q", "-"),
			fmt.Sprintf("CGIPaths = [%q]", filepath.Join(s.Root, "cgi-bin")),
		}
		s.configFor("access.txt", "", unprivileged())
		text := strings.Join(append(lines, opts.Config...), "\n") + "\n"
		return command{path: program, args: []string{"-c", s.config("molly.conf", text)}}
	})
}
