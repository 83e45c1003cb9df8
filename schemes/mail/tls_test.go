package mail_test

import (
	"crypto/tls"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

// serverScript returns the script of a server with one message that accepts the
// login.
func serverScript() []faultnet.Step {
	return []faultnet.Step{faultnet.Lines(
		faultnet.On(`^A\d CAPABILITY`, 1, faultnet.Send("* CAPABILITY IMAP4rev1\r\nA2 OK done\r\n")),
		faultnet.On(`^A\d LOGIN "bob" "s3cret"`, 1, faultnet.Send("A3 OK [CAPABILITY IMAP4rev1] welcome\r\n")),
		faultnet.On(`^T1 EXAMINE INBOX`, 1, faultnet.Send("* 1 EXISTS\r\nT1 OK done\r\n")),
		faultnet.On(`^T2 UID FETCH 1 BODY.PEEK\[\]`, 1, faultnet.Send("* 1 FETCH (UID 1 BODY[] {7}\r\n\r\nhello)\r\nT2 OK done\r\n")),
		faultnet.On(`^Z LOGOUT`, 0),
	)}
}

// TestTLS tests STARTTLS and imaps, including stripped STARTTLS, injected
// plaintext and invalid certificates. The password must not be sent after a
// failure.
func TestTLS(t *testing.T) {
	send, expect := faultnet.Send, faultnet.Expect
	offer := func(then ...faultnet.Step) faultnet.Script {
		return append(faultnet.Script{send("* OK [CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED] ready\r\n"), expect("^A1 STARTTLS\r\n$")}, then...)
	}
	for _, test := range []struct {
		name, scheme, fault, body string
		tls                       scheme.TLSMode
		took                      time.Duration
		script                    func(*faultnet.Certs) faultnet.Script
	}{
		{"STARTTLS", "imap", "ok", "\r\nhello", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script {
			return append(offer(send("A1 OK begin\r\n"), c.TLS()), serverScript()...)
		}},
		{"STARTTLS, self-signed", "imap", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script {
			return offer(send("A1 OK begin\r\n"), c.SelfSigned())
		}},
		{"plaintext after the answer", "imap", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script {
			return offer(send("A1 OK begin\r\n* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n"), c.TLS())
		}},
		{"refused", "imap", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script { return offer(send("A1 NO no\r\n")) }},
		{"STARTTLS not announced", "imap", "tls", "", scheme.TLSRequired, 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{send("* OK [CAPABILITY IMAP4rev1] ready\r\n"), expect("^A1 STARTTLS\r\n$"), send("A1 BAD what\r\n")}
		}},
		{"handshake stalls", "imap", "timeout", "", scheme.TLSDefault, 10 * time.Second, func(c *faultnet.Certs) faultnet.Script {
			return offer(send("A1 OK begin\r\n"), faultnet.TLSStall())
		}},
		{"TLS", "imaps", "ok", "\r\nhello", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script {
			return append(faultnet.Script{c.TLS(), send("* OK [CAPABILITY IMAP4rev1 X] ready\r\n"), expect("^A1 LOGIN .*\r\n$"), send("A1 OK welcome\r\n")}, serverScript()...)
		}},
		{"TLS, self-signed", "imaps", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{c.SelfSigned()} }},
		{"TLS, expired", "imaps", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{c.Expired()} }},
		{"TLS, certificate of another host", "imaps", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{c.WrongHost()} }},
		{"TLS, plaintext server", "imaps", "tls", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{send("* OK ready\r\n"), faultnet.Stall()}
		}},
		{"TLS, handshake cut", "imaps", "connect", "", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{faultnet.TLSCut()} }},
		{"TLS, connection cut without close-notify", "imaps", "truncated", "\r\nhel", scheme.TLSDefault, 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{c.TLS(), send("* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n"), expect("EXAMINE INBOX\r\n$"), send("T1 OK done\r\n"), expect("\r\n$"),
				send("* 1 FETCH (UID 1 BODY[] {7}\r\n\r\nhel"), faultnet.Cut()}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				certs := faultnet.NewCerts(t, "192.0.2.1")
				s := n.Serve("192.0.2.1:7143", test.script(certs))
				c := client(t, mail.Options{TLS: test.tls}, func(o *fetch.Options) {
					o.Dial, o.TLS = n.Dial, &tls.Config{RootCAs: certs.Pool}
				})
				start := time.Now()
				u, _ := fetch.ParseURL(test.scheme + "://bob:s3cret@192.0.2.1:7143/INBOX/;UID=1")
				resp, err := c.Do(t.Context(), &fetch.Request{URL: u})
				body := ""
				if err == nil {
					var b []byte
					b, err = io.ReadAll(resp.Body)
					body = string(b)
					resp.Body.Close()
					if resp.TLS == nil {
						t.Error("TLS state is not reported")
					}
				}
				fault := "ok"
				if err != nil {
					fault = fetch.FaultOf(err).String()
				}
				if took := time.Since(start); fault != test.fault || body != test.body || took > test.took {
					t.Errorf("got %s, %q, %v after %v, want %s, %q", fault, body, err, took, test.fault, test.body)
				}
				c.Close()
				synctest.Wait()
				for _, conn := range s.Conns() {
					if fault != "ok" && strings.Contains(string(conn.Sent()), "s3cret") {
						t.Errorf("sent %q", conn.Sent())
					}
				}
				s.Close()
			})
		})
	}
}

// TestDovecotLogins tests each mechanism of Dovecot with and without TLS.
func TestDovecotLogins(t *testing.T) {
	t.Parallel()
	s, base := dovecot(t, peer.DovecotOptions{TLS: true, Config: []string{"mail_max_userip_connections = 100", "auth_mechanisms = plain login anonymous cram-md5 scram-sha-1 scram-sha-256 external"}})
	trusting := func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: s.Cert.Pool} }
	for _, name := range []string{"", "PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256", "+LOGIN"} {
		for _, mode := range []scheme.TLSMode{scheme.TLSDefault, scheme.TLSNever} {
			resp, got, err := schemetest.Read(t, client(t, mail.Options{TLS: mode, Mechanism: name}, trusting), base+"/INBOX/;UID=1")
			if err != nil || got != plainMessage || (resp.TLS == nil) != (mode == scheme.TLSNever) {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
		wrong := strings.Replace(base, peer.Password, "wrong", 1)
		if _, got, err := schemetest.Read(t, client(t, mail.Options{Mechanism: name}, trusting), wrong+"/INBOX/;UID=1"); fetch.FaultOf(err) != fetch.Auth {
			t.Errorf("%s, wrong password: got %q, %v", name, got, err)
		}
	}
	implicit := strings.Replace(strings.Replace(base, s.Addr, s.TLSAddr, 1), "imap:", "imaps:", 1)
	if resp, got, err := schemetest.Read(t, client(t, mail.Options{}, trusting), implicit+"/INBOX/;UID=1"); err != nil || got != plainMessage || resp.TLS == nil {
		t.Errorf("imaps: got %q, %v", got, err)
	}
	if _, got, err := schemetest.Read(t, client(t, mail.Options{}), base+"/INBOX/;UID=1"); fetch.FaultOf(err) != fetch.TLS {
		t.Errorf("untrusted certificate: got %q, %v", got, err)
	}
	s.Add("anonymous", "INBOX", plainMessage)
	if _, got, err := schemetest.Read(t, client(t, mail.Options{TLS: scheme.TLSNever}), "imap://"+s.Addr+"/INBOX/;UID=1"); err != nil || got != plainMessage {
		t.Errorf("anonymous: got %q, %v", got, err)
	}
}
