package z3950_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "z39.50s://nowhere.example/db?x") }

func TestProxy(t *testing.T) {
	reply := records(sutrs("text\n"))
	schemetest.Tunnel{Schemes: schemes, URL: one, Address: "192.0.2.1:210",
		Answer: answers(found(1), reply), Body: "text\n", Cut: answers(found(1), reply[:20])}.Run(t)
}
