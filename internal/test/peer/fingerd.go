package peer

import (
	"os"
	"path/filepath"
)

// Fingerd starts in.fingerd (Debian fingerd) with the program finger. The only
// user is User. The file .plan in the home directory Home is part of the
// response. The request "/W" is supported, and forwarding is not.
func Fingerd(t TB) *Server {
	t.Helper()
	program, finger := Need(t, "in.fingerd", "fingerd"), Need(t, "finger", "finger")
	s := newServer(t)
	env := s.accounts(nil)
	if err := os.Chmod(filepath.Join(s.Dir, "passwd"), 0o644); err != nil { // fingerd drops root privileges
		t.Fatalf("peer: %v", err)
	}
	return s.inetd(func() command {
		// Standard error goes to the client too, as under the program inetd.
		return command{path: "/bin/sh", args: []string{"-c", `exec "$@" 2>&1`, "sh", program, "-p", finger}, env: env}
	})
}
