package peer

import (
	"fmt"
	"path/filepath"
)

// PureFTPd starts the FTP server pure-ftpd (Debian pure-ftpd). It sends a
// greeting of several lines and supports MLST, MLSD and PRET, but not implicit
// TLS.
func PureFTPd(t TB, opts FTPOptions) *Server {
	t.Helper()
	program := Need(t, "pure-ftpd", "pure-ftpd")
	NeedRoot(t, "pure-ftpd")
	if opts.Implicit {
		t.Fatalf("peer: pure-ftpd knows no implicit TLS")
	}
	s := newServer(t)
	opts.encrypt(s)
	env := s.accounts(opts.Users)
	return s.start(func(base uint16) command {
		opts.listen(s, base)
		first, last := passive(base)
		args := []string{
			"-4", "-H", "-l", "unix",
			"-S", fmt.Sprintf("%s,%d", host, base),
			"-p", fmt.Sprintf("%d:%d", first, last),
			"-g", filepath.Join(s.Dir, "pid"),
		}
		if s.Cert != nil {
			both, err := pemOf(s.Cert)
			if err != nil {
				t.Fatalf("peer: %v", err)
			}
			pem := filepath.Join(s.Dir, "both.pem")
			s.write(pem, both, 0o600, "")
			args = append(args, "-Y", "1", "-2", pem)
		}
		if opts.Rate > 0 {
			rate := fmt.Sprintf(":%d", opts.Rate)
			args = append(args, "-t", rate, "-T", rate)
		}
		return command{path: program, args: append(args, opts.Config...), env: env}
	})
}
