package mail_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestMechanismFallback tests that the client tries the next mechanism if the
// server rejects SCRAM, but sends the password only over TLS.
func TestMechanismFallback(t *testing.T) {
	const (
		caps = "* OK [CAPABILITY IMAP4rev1 AUTH=SCRAM-SHA-256 AUTH=SCRAM-SHA-1 AUTH=PLAIN] ready\r\n"
		// A challenge with a foreign nonce.
		foreign = "+ cj14eCxzPUFBQUEsaT00MDk2\r\n"
	)
	send, expect := faultnet.Send, faultnet.Expect
	begin := func(tag, name string) faultnet.Script {
		return faultnet.Script{expect("^" + tag + " AUTHENTICATE " + name + "\r\n$"), send("+ \r\n"), expect("^biwsbj1ib2Is.*\r\n$")}
	}
	refuse := func(tag, name string) faultnet.Script {
		return append(begin(tag, name), send(tag+" NO AUTHENTICATE "+name+" authentication failed\r\n"))
	}
	plain := faultnet.Script{expect("^A3 AUTHENTICATE PLAIN\r\n$"), send("+ \r\n"), expect("^AGJvYgBzM2NyZXQ=\r\n$"), send("A3 OK [CAPABILITY IMAP4rev1] in\r\n"),
		expect("^T1 EXAMINE INBOX\r\n$"), send("* 1 EXISTS\r\nT1 OK done\r\n"), expect("\r\n$"), send("* 1 FETCH (UID 1 BODY[] {7}\r\n\r\nhello)\r\nT2 OK done\r\n"),
		faultnet.Lines(faultnet.On("^Z LOGOUT", 0))}
	both := append(refuse("A1", "SCRAM-SHA-256"), refuse("A2", "SCRAM-SHA-1")...)
	for name, test := range map[string]struct {
		scheme, fault, option string
		script                faultnet.Script
	}{
		"under TLS":    {"imaps", "ok", "", append(append(faultnet.Script{send(caps)}, both...), plain...)},
		"in plaintext": {"imap", "auth", "mail.Options.Mechanism PLAIN", append(faultnet.Script{send(caps)}, both...)},
		"connection closed by the server": {"imaps", "auth", "", append(append(faultnet.Script{send(caps)}, refuse("A1", "SCRAM-SHA-256")...),
			expect("^A2 AUTHENTICATE SCRAM-SHA-1\r\n$"), faultnet.Fin())},
		"canceled, then rejected": {"imap", "auth", "mail.Options.Mechanism PLAIN", append(append(append(faultnet.Script{send(caps)}, begin("A1", "SCRAM-SHA-256")...),
			send(foreign), expect(`^\*\r\n$`), send("A1 BAD cancelled\r\n")), refuse("A2", "SCRAM-SHA-1")...)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				certs := faultnet.NewCerts(t, "192.0.2.1")
				if test.scheme == "imaps" {
					test.script = append(faultnet.Script{certs.TLS()}, test.script...)
				}
				s := n.Serve("192.0.2.1:7143", test.script)
				c := client(t, mail.Options{}, func(o *fetch.Options) {
					o.Dial, o.TLS = n.Dial, &tls.Config{RootCAs: certs.Pool}
				})
				_, body, err := schemetest.Read(t, c, test.scheme+"://bob:s3cret@192.0.2.1:7143/INBOX/;UID=1")
				fault := "ok"
				if err != nil {
					fault = fetch.FaultOf(err).String()
				}
				if fault != test.fault || override.Of(err).String() != test.option || err == nil && body != "\r\nhello" {
					t.Errorf("got %q, %v (%s)", body, err, override.Of(err))
				}
				if err != nil && !strings.Contains(err.Error(), "authentication failed") {
					t.Errorf("error lacks the text of the server: %v", err)
				}
				c.Close()
				synctest.Wait()
				s.Close()
			})
		})
	}
}

// TestOverride checks that a setting changes neither the class nor the text of
// an error.
func TestOverride(t *testing.T) {
	setting := override.Setting{Kind: mail.OverrideMechanism, Value: "PLAIN"}
	err := override.With(fetch.Auth.Errorf("no"), setting)
	if !errors.Is(err, fetch.Auth) || err.Error() != "no" || override.Of(err) != setting || override.Of(fetch.Auth) != (override.Setting{}) {
		t.Errorf("got %v", err)
	}
}
