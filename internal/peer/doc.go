// Package peer starts real servers on loopback for tests: nginx, vsftpd,
// inn2, dovecot and their like, each with a configuration, ports and a root
// directory of its own. Only tests and internal/bench may import it.
//
//	s := peer.Nginx(t, peer.NginxOptions{TLS: true})
//	s.Put("motd", []byte("hello\n"))
//	client.Get(ctx, "https://"+s.TLSAddr+"/motd") // trusts s.Cert.Pool
//
// One function a server, one file a function. Each returns once the server
// answers and ends it, with everything that it started, when the test ends.
// What the server said is shown when the test fails.
//
// The programs come from Debian packages; "make peers" installs them. A test
// whose program is absent is skipped with the name of the package, unless
// CI=true stands in the environment: then it fails. Servers that know users
// know one, User with Password, where their options say nothing else.
package peer
