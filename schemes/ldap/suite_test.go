package ldap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/ldap"
)

const alice = "version: 1\n\ndn: uid=alice,ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: alice\ncn: Alice Whale\n" +
	"sn: Whale\nmail: alice@example.org\ndescription:: w4TDtsO8\n"

// TestSuite runs the tests of the contract with slapd.
func TestSuite(t *testing.T) {
	s := slapd(t, peer.SlapdOptions{})
	var o fetch.Options
	onPeer(s.Addr)(&o)
	rejected := []string{"ldap:///dc=org", host + "no%20name", host + "dc=org?a?b?c?d?e", host + "dc=org??every", host + "dc=org???(cn=", host + "dc=org?a%20b",
		host + "dc=org????!x-unknown", host + "dc=org%00", "x500:c=GB/o=Example"}
	for _, port := range []string{"25", "79", "6379", "0", "65746"} {
		rejected = append(rejected, "ldap://192.0.2.1:"+port+"/dc=org")
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: o, NoRanges: true,
		Document: host + "uid=alice,ou=people,dc=example,dc=org", Body: []byte(alice),
		Missing: host + "dc=nowhere",
		Menu:    host + "ou=people,dc=example,dc=org??one", Names: []string{"uid=alice,ou=people,dc=example,dc=org"},
		Rejected: rejected,
	})
}

// TestSlapd retrieves entries and listings of slapd.
func TestSlapd(t *testing.T) {
	s := slapd(t, peer.SlapdOptions{})
	c := schemetest.NewClient(t, schemes(), onPeer(s.Addr))
	bob := "version: 1\n\ndn:: dWlkPWLDtmIsb3U9cGVvcGxlLGRjPWV4YW1wbGUsZGM9b3Jn\n"
	for _, test := range []struct{ name, url, want string }{
		{"attributes", host + "uid=alice,ou=people,dc=example,dc=org?mail,sn", "version: 1\n\ndn: uid=alice,ou=people,dc=example,dc=org\nsn: Whale\nmail: alice@example.org\n"},
		{"filter that does not match", host + "dc=example,dc=org???(dc=x)", "not-found"},
		{"filter below", host + "dc=example,dc=org?cn?sub?(uid=b*)", bob + "cn: Bob\n\n# reference: ldap://192.0.2.9/ou=elsewhere,dc=example,dc=org??sub\n"},
		{"escaped name and folded value", host + "uid=b%C3%B6b,ou=people,dc=example,dc=org?sn", bob +
			"sn: with a name that is so long that its line in LDIF must be folded once or\n  even twice, as here\n"},
		{"x500 from the root", "x500://192.0.2.1/dc=org/dc=example?o", "version: 1\n\ndn: dc=example,dc=org\no: Example\n"},
		{"x500 as a DN", "x500://192.0.2.1/dc=example,dc=org?o", "version: 1\n\ndn: dc=example,dc=org\no: Example\n"},
		{"no such entry", host + "dc=com", "not-found"},
		{"login", "ldap://cn=admin,dc=example,dc=org:s3cret@192.0.2.1/dc=example,dc=org?o", "version: 1\n\ndn: dc=example,dc=org\no: Example\n"},
		{"wrong password", "ldap://cn=admin,dc=example,dc=org:wrong@192.0.2.1/dc=example,dc=org?o", "auth"},
		{"name without a password", "ldap://cn=admin,dc=example,dc=org@192.0.2.1/dc=example,dc=org?o", "auth"},
		{"name with an empty password", "ldap://cn=admin,dc=example,dc=org:@192.0.2.1/dc=example,dc=org?o", "version: 1\n\ndn: dc=example,dc=org\no: Example\n"},
	} {
		_, body, err := schemetest.Read(t, c, test.url)
		if err != nil {
			body = fetch.FaultOf(err).String()
		}
		if body != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.name, body, err, test.want)
		}
	}
	root, err := schemetest.List(t, c, host)
	if err != nil || len(root) != 1 || root[0].URL.String() != host+"dc=example,dc=org??one" || root[0].Kind != fetch.Menu {
		t.Errorf("root: %+v, %v", root, err)
	}
	all, err := schemetest.List(t, c, host+"ou=people,dc=example,dc=org??one")
	if err != nil || len(all) != 2 || all[1].URL.String() != host+"uid=b%C3%B6b,ou=people,dc=example,dc=org" || all[1].Name != "uid=böb,ou=people,dc=example,dc=org" {
		t.Errorf("people: %+v, %v", all, err)
	}
}

// TestPages lists more entries than the server sends in a page.
func TestPages(t *testing.T) {
	var more strings.Builder
	for n := range 1300 {
		fmt.Fprintf(&more, "\ndn: uid=u%d,ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: u%[1]d\ncn: %[1]d\nsn: %[1]d\n", n)
	}
	s := peer.Slapd(t, peer.SlapdOptions{LDIF: example + more.String(), Config: []string{"sizelimit size=600 size.prtotal=unlimited"}})
	c := schemetest.NewClient(t, schemes(), onPeer(s.Addr))
	all, err := schemetest.List(t, c, host+"ou=people,dc=example,dc=org?cn?one")
	if err != nil || len(all) != 1302 {
		t.Errorf("got %d entries, %v", len(all), err)
	}
	limited := peer.Slapd(t, peer.SlapdOptions{LDIF: example + more.String(), Config: []string{"sizelimit size.prtotal=600"}})
	c = schemetest.NewClient(t, schemes(), onPeer(limited.Addr))
	all, err = schemetest.List(t, c, host+"ou=people,dc=example,dc=org?cn?one")
	if fetch.FaultOf(err) != fetch.Denied || len(all) == 0 || !strings.Contains(err.Error(), "incomplete") {
		t.Errorf("limit of the server: got %d entries, %v", len(all), err)
	}
}

// TestTLS uses StartTLS and ldaps.
func TestTLS(t *testing.T) {
	s := slapd(t, peer.SlapdOptions{TLS: true})
	plain := slapd(t, peer.SlapdOptions{})
	trust := func(o *fetch.Options) { o.TLS = tlsConfig(s) }
	for _, test := range []struct {
		name, url, addr string
		mode            scheme.TLSMode
		fault           fetch.Fault
		tls             bool
	}{
		{"ldaps", "ldaps://192.0.2.1/dc=example,dc=org", s.TLSAddr, scheme.TLSDefault, 0, true},
		{"no TLS", host + "dc=example,dc=org", s.Addr, scheme.TLSDefault, 0, false},
		{"required", host + "dc=example,dc=org", s.Addr, scheme.TLSRequired, 0, true},
		{"wanted", "x500://192.0.2.1/dc=org/dc=example", s.Addr, scheme.TLSWanted, 0, true},
		{"wanted, not supported", host + "dc=example,dc=org", plain.Addr, scheme.TLSWanted, 0, false},
		{"required, not supported", host + "dc=example,dc=org", plain.Addr, scheme.TLSRequired, fetch.TLS, false},
		{"plaintext for ldaps", "ldaps://192.0.2.1/dc=example,dc=org", plain.Addr, scheme.TLSDefault, fetch.Connect, false},
	} {
		c := schemetest.NewClient(t, ldap.Schemes(ldap.Options{TLS: test.mode}), trust, onPeer(test.addr))
		resp, _, err := schemetest.Read(t, c, test.url)
		if fault := fetch.FaultOf(err); fault != test.fault && !(fault == fetch.TLS && test.fault == fetch.Connect) || err == nil && (resp.TLS != nil) != test.tls {
			t.Errorf("%s: got %+v, %v", test.name, resp, err)
		}
	}
	c := schemetest.NewClient(t, ldap.Schemes(ldap.Options{TLS: scheme.TLSRequired}), onPeer(s.Addr))
	if _, _, err := schemetest.Read(t, c, host+"dc=example,dc=org"); fetch.FaultOf(err) != fetch.TLS {
		t.Errorf("unknown certificate: got %v", err)
	}
}
