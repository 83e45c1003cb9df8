package gemini_test

import (
	"strings"

	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gemini"
)

// TestDeadNetworks tests outages in each phase of a request.
func TestDeadNetworks(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	o := inTemp(t)
	text := strings.Repeat("hello ", 100)
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "gemini", URL: "gemini://192.0.2.1/a", Body: text,
		Schemes: func() []fetch.Scheme { return gemini.Schemes(o) },
		Phases:  [][]string{{"TLS handshake", "response"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:1965", faultnet.Script{certs.TLS(), faultnet.Expect("\r\n$"), faultnet.Send("20 text/plain\r\n" + text)}).Close
		},
	}, schemetest.Outage{
		Name: "spartan", URL: "spartan://192.0.2.1/a", Body: text, OpenEnd: true,
		Schemes: func() []fetch.Scheme { return gemini.Schemes(gemini.Options{}) },
		Phases:  [][]string{{"response"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:300", faultnet.Script{faultnet.Expect("\r\n$"), faultnet.Send("2 text/plain\r\n" + text)}).Close
		},
	})
}
