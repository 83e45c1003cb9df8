package gopher_test

import (
	"crypto/tls"

	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gopher"
)

// TestDeadNetworks tests outages in each phase of a request.
func TestDeadNetworks(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	answer := func(selector, text string) faultnet.Script {
		return faultnet.Script{faultnet.Expect("^" + selector + "\r\n"), faultnet.Send(text)}
	}
	plain := func() []fetch.Scheme { return gopher.Schemes(gopher.Options{}) }
	const text, menu = "line one\r\nline two\r\n", "0Text\t/t\t192.0.2.1\t70\r\n"
	serve := func(addr string, script faultnet.Script) func(*faultnet.Network) func() {
		return func(n *faultnet.Network) func() { return n.Serve(addr, script).Close }
	}
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "gopher, text", Schemes: plain, URL: "gopher://192.0.2.1/0/t", Body: text,
		Phases: [][]string{{"text"}}, OpenEnd: true, Serve: serve("192.0.2.1:70", answer("/t", text+".\r\n")),
	}, schemetest.Outage{
		Name: "gopher, menu", Schemes: plain, URL: "gopher://192.0.2.1/1/m", Body: menu + ".\r\n",
		Phases: [][]string{{"menu"}}, OpenEnd: true, Serve: serve("192.0.2.1:70", answer("/m", menu+".\r\n")),
	}, schemetest.Outage{
		Name: "gopher, file", Schemes: plain, URL: "gopher://192.0.2.1/9/f", Body: text,
		Phases: [][]string{{"file"}}, OpenEnd: true, Serve: serve("192.0.2.1:70", answer("/f", text)),
	}, schemetest.Outage{
		Name: "gophers, file", Schemes: plain, URL: "gophers://192.0.2.1/9/f", Body: text,
		Client: func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} },
		Phases: [][]string{{"TLS handshake", "file"}}, OpenEnd: true, Serve: serve("192.0.2.1:70", append(faultnet.Script{certs.TLS()}, answer("/f", text)...)),
	})
}
