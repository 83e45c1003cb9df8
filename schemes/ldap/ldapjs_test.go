package ldap_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestLDAPJS runs the tests of the contract with ldapjs, which ignores the
// control for pages.
func TestLDAPJS(t *testing.T) {
	s := peer.LDAPJS(t)
	var o fetch.Options
	onPeer(s.Addr)(&o)
	const entry = "version: 1\n\ndn: dc=example,dc=org\nobjectClass: domain\ndc: example\no: Example\n"
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: o, NoRanges: true,
		Document: host + "dc=example,dc=org", Body: []byte(entry),
		Missing: host + "dc=nowhere,dc=example,dc=org",
		Menu:    host + "dc=example,dc=org??one", Names: []string{"ou=people,dc=example,dc=org"},
		Rejected: []string{"ldap:///dc=org"},
	})
	c := schemetest.NewClient(t, schemes(), onPeer(s.Addr))
	all, err := schemetest.List(t, c, host+"ou=people,dc=example,dc=org?cn?one")
	if err != nil || len(all) != 700 {
		t.Errorf("got %d entries, %v", len(all), err)
	}
	for _, test := range []struct{ name, url, want string }{
		{"filter", host + "dc=example,dc=org?cn?sub?(uid=u7)", "version: 1\n\ndn: uid=u7,ou=people,dc=example,dc=org\ncn: User 7\n"},
		{"login", "ldap://cn=alice:s3cret@192.0.2.1/dc=example,dc=org", entry},
		{"wrong password", "ldap://cn=alice:wrong@192.0.2.1/dc=example,dc=org", "auth"},
	} {
		_, body, err := schemetest.Read(t, c, test.url)
		if err != nil {
			body = fetch.FaultOf(err).String()
		}
		if body != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.name, body, err, test.want)
		}
	}
}
