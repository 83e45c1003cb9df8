package peer

import "strconv"

// GophernicusOptions configures gophernicus, a Gopher server.
type GophernicusOptions struct {
	Args []string // further arguments: "-nh" for no menu header
}

// Gophernicus starts the Gopher server gophernicus (Debian gophernicus), which
// serves Root. Directories and gophermap files are menus, and executables below
// cgi-bin are scripts. The menus contain the host 127.0.0.1.
func Gophernicus(t TB, opts GophernicusOptions) *Server {
	t.Helper()
	program := Need(t, "gophernicus", "gophernicus")
	s := newServer(t)
	return s.inetd(func() command {
		// -nm disables the shared memory for hit counts. With shared memory,
		// the server stops responding after some thousand requests. -ns
		// disables syslog.
		args := []string{"-h", host, "-p", strconv.Itoa(int(s.Port)), "-r", s.Root, "-nm", "-ns"}
		return command{path: program, args: append(args, opts.Args...), user: unprivileged()}
	})
}
