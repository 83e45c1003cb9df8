package peer

import "os"

// TelnetdOptions configures telnetd.
type TelnetdOptions struct {
	Script string // script for /bin/sh on the terminal of each session; "": a script that echoes lines
}

// Telnetd starts telnetd (Debian inetutils-telnetd) with a script instead of
// the program login. The server negotiates terminal type, speed, window size
// and environment.
func Telnetd(t TB, opts TelnetdOptions) *Server {
	t.Helper()
	program := Need(t, "telnetd", "inetutils-telnetd")
	s := newServer(t)
	script := opts.Script
	if script == "" {
		script = "while read -r line; do echo \"you said $line\"; done\n"
	}
	path := s.config("script", "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatalf("peer: %v", err)
	}
	return s.inetd(func() command {
		return command{path: program, args: []string{"-E", path}, user: unprivileged()}
	})
}
