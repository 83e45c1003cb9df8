package nntp_test

import (
	"crypto/tls"

	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nntp"
)

// TestDeadNetworks tests outages in each phase of a session.
func TestDeadNetworks(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	session := faultnet.Script{faultnet.Send("200 hello\r\n"), faultnet.Lines(
		faultnet.On("^CAPABILITIES", 0, faultnet.Send("101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n")),
		faultnet.On("^GROUP g", 0, faultnet.Send("211 1 1 1 g\r\n")),
		faultnet.On("^LISTGROUP g", 0, faultnet.Send("211 1 1 1 g\r\n1\r\n.\r\n")),
		faultnet.On("^ARTICLE 1", 0, faultnet.Send("220 1 <1@h>\r\nSubject: a\r\n\r\nhello\r\n.\r\n")),
		faultnet.On("^QUIT", 0, faultnet.Fin()),
	)}
	options := nntp.Options{}
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "nntp", URL: "nntp://192.0.2.1/g/1", Body: "Subject: a\r\n\r\nhello\r\n",
		Schemes: func() []fetch.Scheme { return nntp.Schemes(options) },
		Phases:  [][]string{{"greeting", "CAPABILITIES", "GROUP and ARTICLE"}},
		Serve:   func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:119", session).Close },
	}, schemetest.Outage{
		Name: "nntps", URL: "nntps://192.0.2.1/g/1", Body: "Subject: a\r\n\r\nhello\r\n",
		Schemes: func() []fetch.Scheme { return nntp.Schemes(options) },
		Client:  func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} },
		Phases:  [][]string{{"TLS handshake", "greeting", "CAPABILITIES", "GROUP and ARTICLE"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:563", append(faultnet.Script{certs.TLS()}, session...)).Close
		},
	}, schemetest.Outage{
		Name: "nntp, range", URL: "nntp://192.0.2.1/g/1-1", Body: "#! rnews 21\nSubject: a\r\n\r\nhello\r\n",
		Schemes: func() []fetch.Scheme { return nntp.Schemes(options) },
		Phases:  [][]string{{"greeting", "CAPABILITIES", "GROUP", "LISTGROUP", "ARTICLE"}},
		Serve:   func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:119", session).Close },
	})
}
