package wais_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "wais://nowhere.example/db?x") }

func TestProxy(t *testing.T) {
	answer := message(chunk(id, "12345678"))
	schemetest.Tunnel{Schemes: schemes, URL: host + known, Address: "192.0.2.1:210",
		Answer: ready(faultnet.Send(answer)), Body: "12345678", Cut: ready(faultnet.Send(answer[:50]))}.Run(t)
}
