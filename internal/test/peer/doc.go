// Package peer starts real servers on loopback for tests, such as nginx,
// vsftpd, inn2 and dovecot. Each has its own configuration, ports and root
// directory. Only tests and internal/tool/bench may import this package.
//
//	s := peer.Nginx(t, peer.NginxOptions{TLS: true})
//	s.Put("motd", []byte("hello\n"))
//	client.Get(ctx, "https://"+s.TLSAddr+"/motd") // trusts s.Cert.Pool
//
// Each server has one function in one file. The function returns when the
// server answers. At the end of the test, the server and all its processes are
// killed. If the test fails, the output of the server is printed.
//
// The programs come from Debian packages that "make peers" installs, and some
// from the npm registry or the Go module proxy. If a program is missing, the
// test is skipped and the message names the package. If
// CI=true is in the environment, the test fails instead. By default, a server
// with accounts has one account, with the user name [User] and the password
// [Password].
package peer
