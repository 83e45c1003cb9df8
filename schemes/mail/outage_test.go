package mail_test

import (
	"crypto/tls"

	"fmt"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestDeadNetworks tests outages in each phase of a session.
func TestDeadNetworks(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	answer := func(n int) *faultnet.Hook {
		text := fmt.Sprintf("* 1 FETCH (UID 1 BODY[] {28}\r\nSubject: a\r\n\r\nhello, hello\r\n)\r\nT%d OK done\r\n", n)
		return faultnet.On(fmt.Sprintf(`^T%d UID FETCH 1 BODY`, n), 0, faultnet.Send(text))
	}
	session := faultnet.Script{
		faultnet.Send("* OK [CAPABILITY IMAP4rev1] ready\r\n"),
		faultnet.Lines(
			faultnet.On(`^A1 LOGIN "bob" "s3cret"`, 0, faultnet.Send("A1 OK [CAPABILITY IMAP4rev1] welcome\r\n")),
			faultnet.On(`^T1 EXAMINE INBOX`, 0, faultnet.Send("* 1 EXISTS\r\n* OK [UIDVALIDITY 3] x\r\nT1 OK done\r\n")),
			answer(2), answer(3), faultnet.On("^Z LOGOUT", 0)),
	}
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "imap", URL: "imap://bob:s3cret@192.0.2.1/INBOX/;UID=1", Body: "Subject: a\r\n\r\nhello, hello\r\n",
		Schemes: func() []fetch.Scheme { return mail.Schemes(mail.Options{}) },
		Phases:  [][]string{{"greeting", "LOGIN", "EXAMINE", "FETCH"}},
		Serve:   func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:143", session).Close },
	}, schemetest.Outage{
		Name: "imaps", URL: "imaps://bob:s3cret@192.0.2.1/INBOX/;UID=1", Body: "Subject: a\r\n\r\nhello, hello\r\n",
		Schemes: func() []fetch.Scheme { return mail.Schemes(mail.Options{}) },
		Client:  func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} },
		Phases:  [][]string{{"TLS handshake", "greeting", "LOGIN", "EXAMINE", "FETCH"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:993", append(faultnet.Script{certs.TLS()}, session...)).Close
		},
	})
}
