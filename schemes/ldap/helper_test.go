package ldap_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/ldap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func schemes() []fetch.Scheme { return ldap.Schemes(ldap.Options{}) }

const host = "ldap://192.0.2.1/"

// serve starts a server in memory and returns a client for it.
func serve(t testing.TB, scripts ...faultnet.Script) (*fetch.Client, *faultnet.Server) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:389", scripts...)
	return schemetest.NewClient(t, schemes(), func(o *fetch.Options) { o.Dial = n.Dial }), s
}

// readRequest waits for a message of the client.
var readRequest = faultnet.Expect("(?s)^.+$")

// onPeer returns a change of Options that connects every address to a server.
func onPeer(addr string) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.Dial = func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
	}
}

func octets(s string) []byte { return ber.Primitive(ber.Universal, ber.OctetString, []byte(s)) }

// message returns a message of the server with the given operation.
func message(id int64, tag uint32, parts ...[]byte) string {
	return string(ber.SequenceOf(ber.Primitive(ber.Universal, ber.Integer, ber.IntValue(id)), ber.Constructed(ber.Application, tag, parts...)))
}

// entry returns an entry with one attribute.
func entry(id int64, dn, name string, values ...string) string {
	var set [][]byte
	for _, v := range values {
		set = append(set, octets(v))
	}
	return message(id, 4, octets(dn), ber.SequenceOf(ber.SequenceOf(octets(name), ber.Constructed(ber.Universal, ber.Set, set...))))
}

// done returns the result of an operation.
func done(id int64, tag uint32, code int64, text string, referrals ...string) string {
	parts := [][]byte{ber.Primitive(ber.Universal, ber.Enumerated, ber.IntValue(code)), octets(""), octets(text)}
	if referrals != nil {
		var urls [][]byte
		for _, u := range referrals {
			urls = append(urls, octets(u))
		}
		parts = append(parts, ber.Group(3, urls...))
	}
	return message(id, tag, parts...)
}

// answers is a script of replies to the requests of a client.
func answers(replies ...string) (s faultnet.Script) {
	for _, r := range replies {
		s = append(s, readRequest, faultnet.Send(r))
	}
	return s
}

// example is the directory of the server in tests.
const example = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=alice,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: alice
cn: Alice Whale
sn: Whale
mail: alice@example.org
description:: w4TDtsO8

dn:: dWlkPWLDtmIsb3U9cGVvcGxlLGRjPWV4YW1wbGUsZGM9b3Jn
objectClass: inetOrgPerson
uid:: YsO2Yg==
cn: Bob
sn: with a name that is so long that its line in LDIF must be folded once or even twice, as here
userPassword: secret

dn: ou=elsewhere,dc=example,dc=org
objectClass: referral
objectClass: extensibleObject
ou: elsewhere
ref: ldap://192.0.2.9/ou=elsewhere,dc=example,dc=org
`

func slapd(t *testing.T, o peer.SlapdOptions) *peer.Server {
	o.LDIF = example
	return peer.Slapd(t, o)
}

// tlsConfig trusts the certificate of a server.
func tlsConfig(s *peer.Server) *tls.Config {
	return &tls.Config{RootCAs: s.Cert.Pool, ServerName: "localhost"}
}
