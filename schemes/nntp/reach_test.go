package nntp_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nntp"
)

func schemes() []fetch.Scheme { return nntp.Schemes(nntp.Options{}) }

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "nntp://nowhere.example/g") }

func TestProxy(t *testing.T) {
	answer := func(text string) faultnet.Script { return afterGreeting(append(article1Steps, faultnet.Send(text))...) }
	schemetest.Tunnel{Schemes: schemes, URL: "nntp://192.0.2.1/g/1", Address: "192.0.2.1:119",
		Answer: answer("x\r\n.\r\n"), Body: "x\r\n", Cut: answer("x\r\n"), CutBody: "x\r\n"}.Run(t)
}
