package peer

import "strconv"

// GophernicusOptions says how gophernicus differs from its defaults.
type GophernicusOptions struct {
	Args []string // further arguments: "-nh" for no menu header
}

// Gophernicus serves Root by gopher (Debian gophernicus): directories and
// gophermap files as menus, executables below cgi-bin as scripts. Its menus
// name the host 127.0.0.1.
func Gophernicus(t TB, opts GophernicusOptions) *Server {
	t.Helper()
	program := Need(t, "gophernicus", "gophernicus")
	s := newServer(t)
	return s.inetd(func() command {
		// -nm: without the shared memory in which it counts hits and, after
		// some thousand of a test, answers no more. -ns: no syslog.
		args := []string{"-h", host, "-p", strconv.Itoa(int(s.Port)), "-r", s.Root, "-nm", "-ns"}
		return command{path: program, args: append(args, opts.Args...), user: unprivileged()}
	})
}
