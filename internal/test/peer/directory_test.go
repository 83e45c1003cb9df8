package peer_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestSlapd(t *testing.T) {
	t.Parallel()
	s := peer.Slapd(t, peer.SlapdOptions{LDIF: "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n"})
	if got := curl(t, "ldap://"+s.Addr+"/dc=example,dc=org?o"); strings.TrimSpace(got) != "DN: dc=example,dc=org\n\to: Example" {
		t.Errorf("got %q", got)
	}
	if out, err := tryCurl(t, "-u", peer.LDAPUser+":wrong", "ldap://"+s.Addr+"/dc=example,dc=org"); err == nil {
		t.Errorf("wrong password: got %q", out)
	}
}

func TestYaz(t *testing.T) {
	t.Parallel()
	s := peer.Yaz(t)
	c := exec.Command(peer.Need(t, "yaz-client", "yaz"), "tcp:"+s.Addr)
	c.Stdin = strings.NewReader("base Default\nfind 3x\nformat sutrs\nshow 1\nquit\n")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Number of hits: 3") || !strings.Contains(string(out), "This is dummy SUTRS record number 1") {
		t.Errorf("got %s, %v", out, err)
	}
}
