package peer

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// SlapdOptions configures slapd. By default it serves the directory
// dc=example,dc=org to everyone, and LDAPUser may log in with Password.
type SlapdOptions struct {
	TLS    bool     // StartTLS on Addr, TLS from the first byte on TLSAddr
	Cert   *Cert    // nil: NewCert with zero options
	LDIF   string   // the entries: "dn: dc=example,dc=org\n..."
	Config []string // further lines: "sizelimit 5"
}

// LDAPUser is the distinguished name of the administrator of slapd (rootdn).
const LDAPUser = "cn=admin,dc=example,dc=org"

// Slapd starts the LDAP server slapd (Debian slapd).
func Slapd(t TB, opts SlapdOptions) *Server {
	t.Helper()
	program := Need(t, "slapd", "slapd")
	load := Need(t, "slapadd", "slapd")
	s := newServer(t)
	if opts.TLS {
		s.certify(opts.Cert)
	}
	account := unprivileged()
	s.mkdir(filepath.Join(s.Dir, "db"), account)
	conf := s.config("slapd.conf", slapdConfig(s, opts))
	args := []string{"-q", "-f", conf, "-l", s.config("entries.ldif", opts.LDIF)}
	if out, err := exec.Command(load, args...).CombinedOutput(); err != nil {
		t.Fatalf("peer: slapadd: %v: %s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(s.Dir, "db", "*"))
	for _, file := range files {
		if err := chown(file, account); err != nil {
			t.Fatalf("peer: %v", err)
		}
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		urls := "ldap://" + s.Addr + "/"
		if s.Cert != nil {
			s.TLSAddr = addr(base + 1)
			urls += " ldaps://" + s.TLSAddr + "/"
		}
		return command{path: program, args: []string{"-d", "0", "-f", conf, "-h", urls}, user: account}
	})
}

func slapdConfig(s *Server, opts SlapdOptions) string {
	lines := []string{
		"include /etc/ldap/schema/core.schema", "include /etc/ldap/schema/cosine.schema", "include /etc/ldap/schema/inetorgperson.schema",
		"modulepath /usr/lib/ldap", "moduleload back_mdb", "allow bind_v2",
		fmt.Sprintf("pidfile %s/pid", filepath.Join(s.Dir, "db")),
	}
	if s.Cert != nil {
		lines = append(lines, "TLSCertificateFile "+s.Cert.File, "TLSCertificateKeyFile "+s.Cert.KeyFile)
	}
	lines = append(lines, "sizelimit size.prtotal=unlimited", "database mdb", `suffix "dc=example,dc=org"`,
		"directory "+filepath.Join(s.Dir, "db"), fmt.Sprintf("rootdn %q", LDAPUser), "rootpw "+Password, "maxsize 268435456")
	return strings.Join(append(lines, opts.Config...), "\n") + "\n"
}
