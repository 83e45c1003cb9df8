package ftp_test

import (
	"crypto/tls"

	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/ftp"
)

// TestDeadNetworks tests outages in each phase of a session.
func TestDeadNetworks(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	schemes := func() []fetch.Scheme { return ftp.Schemes(ftp.Options{}) }
	greeting := faultnet.Send("220 (vsFTPd 3.0.3)\r\n")
	secure := obliging(faultnet.On("^(PBSZ 0|PROT P)$", 0, faultnet.Send("200 fine\r\n")))
	serve := func(addr string, control, data faultnet.Script) func(n *faultnet.Network) func() {
		return func(n *faultnet.Network) func() {
			n.Serve("192.0.2.1:40000", data)
			return n.Serve(addr, control).Close
		}
	}
	hello := faultnet.Send("hello\r\n")
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "ftp, file", Schemes: schemes, URL: "ftp://192.0.2.1/x", Body: "hello\r\n",
		Phases: [][]string{{"greeting", "USER", "PASS", "EPSV", "TYPE", "SIZE", "RETR"}, {"data"}},
		Serve:  serve("192.0.2.1:21", faultnet.Script{greeting, obliging()}, faultnet.Script{hello}),
	}, schemetest.Outage{
		Name: "ftps, file", Schemes: schemes, URL: "ftps://bob:secret@192.0.2.1/x", Body: "hello\r\n",
		Client: func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} },
		Phases: [][]string{{"TLS handshake", "greeting", "USER", "PASS", "PBSZ and PROT", "EPSV", "TYPE", "SIZE", "RETR"}, {"TLS handshake", "data"}},
		Serve:  serve("192.0.2.1:990", faultnet.Script{certs.TLS(), greeting, secure}, faultnet.Script{certs.TLS(), hello}),
	})
}
