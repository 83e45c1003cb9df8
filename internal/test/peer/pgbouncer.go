package peer

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
)

// Pgbouncer starts the pooler PgBouncer (Debian pgbouncer) in session mode in
// front of a server of [Postgres]. It accepts all users without a password. It
// keeps its defaults otherwise, so it rejects most start parameters.
func Pgbouncer(t TB, db *Server) *Server {
	t.Helper()
	program := Need(t, "pgbouncer", "pgbouncer")
	s := newServer(t)
	user := unprivileged()
	dbHost, dbPort, err := net.SplitHostPort(db.Addr)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		s.configFor("users.txt", `"postgres" ""`+"\n", user)
		conf := s.configFor("pgbouncer.ini", fmt.Sprintf(strings.TrimSpace(pgbouncerConfig)+"\n",
			dbHost, dbPort, host, base, filepath.Join(s.Dir, "users.txt")), user)
		return command{path: program, user: user, args: []string{conf}}
	})
}

const pgbouncerConfig = `
[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = %s
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = session
default_pool_size = 100
`
