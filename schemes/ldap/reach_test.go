package ldap_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "ldap://nowhere.example/dc=x") }

func TestProxy(t *testing.T) {
	one := entry(1, "dc=x", "a", "b")
	body := "version: 1\n\ndn: dc=x\na: b\n"
	schemetest.Tunnel{Schemes: schemes, URL: host + "dc=x", Address: "192.0.2.1:389",
		Answer: answers(one + done(1, 5, 0, "")), Body: body, Cut: answers(one), CutBody: body}.Run(t)
}
