package peer

import (
	"fmt"
	"path/filepath"
	"strings"
)

func readersConfig(s *Server, opts INNOptions) string {
	anonymous := `default: "<anonymous>"`
	if opts.Login {
		anonymous = ""
	}
	return fmt.Sprintf(`
auth "all" {
	hosts: "*"
	auth: "ckpasswd -f %s"
	%s
}
access "anonymous" {
	users: "<anonymous>"
	newsgroups: "*"
	access: RN
}
access "users" {
	users: "%s"
	newsgroups: "*"
	access: RPAN
}
`, filepath.Join(s.Dir, "passwd.news"), anonymous, User)
}

// config returns the contents of inn.conf. The parameter feed is the port of
// innd.
func (i inn) config(s *Server, feed uint16, account string, opts INNOptions) string {
	in := func(name string) string { return filepath.Join(s.Dir, name) }
	lines := []string{
		"mta: /bin/false", "mailcmd: /bin/false",
		"pathhost: news.example.org", "domain: example.org", "organization: Tests",
		"hismethod: hisv6", "ovmethod: tradindexed", "enableoverview: true",
		"server: " + host, "bindaddress: " + host, fmt.Sprintf("port: %d", feed),
		"maxartsize: 0", "localmaxartsize: 0", "maxconnections: 200", "nnrpdloadlimit: 0",
		"pathnews: " + filepath.Join(i.root, "usr/lib/news"), "pathbin: " + i.path(""),
		"pathetc: " + s.Dir, "pathdb: " + in("db"), "pathrun: " + in("run"), "pathlog: " + in("log"),
		"pathtmp: " + in("tmp"), "pathfilter: " + in("filter"), "pathhttp: " + in("http"),
		"pathspool: " + in("spool"), "patharticles: " + in("articles"), "pathoverview: " + in("overview"),
		"pathincoming: " + in("incoming"), "pathoutgoing: " + in("outgoing"), "patharchive: " + in("archive"),
	}
	if s.Cert != nil {
		key := s.key(account)
		lines = append(lines, "tlscertfile: "+s.Cert.File, "tlskeyfile: "+key)
	}
	return strings.Join(append(lines, opts.Config...), "\n") + "\n"
}
