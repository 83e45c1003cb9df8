package schemes_test

import (
	"context"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/nntp"
)

// TestMissingPassword checks that no scheme logs in without a password if the
// URL names only a user. The Client asks for the password of this user. An empty
// password in a URL is a password.
func TestMissingPassword(t *testing.T) {
	send, expect := faultnet.Send, faultnet.Expect
	for _, test := range []struct {
		url, empty string // empty is what the driver sends for an empty password, or ""
		port       string
		script     faultnet.Script
	}{
		{"http://alice@192.0.2.1/", "Authorization: Basic YWxpY2U6\r\n", "80", faultnet.Script{expect("\r\n\r\n$"),
			send("HTTP/1.1 401 x\r\nContent-Length: 0\r\nConnection: close\r\nWWW-Authenticate: Basic realm=r\r\n\r\n"), faultnet.Fin()}},
		{"ftp://alice@192.0.2.1/", "PASS \r\n", "21", faultnet.Script{send("220 hi\r\n"), expect("USER alice\r\n$"), send("331 password\r\n"), expect("(?s)^.+$")}},
		{"imap://alice@192.0.2.1/INBOX", `LOGIN "alice" ""`, "143", faultnet.Script{send("* OK [CAPABILITY IMAP4rev1] hi\r\n"), expect("(?s)^.+$")}},
		{"imap://alice;AUTH=PLAIN@192.0.2.1/INBOX", "AUTHENTICATE PLAIN", "143", faultnet.Script{send("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hi\r\n"), expect("(?s)^.+$")}},
		{"pop://alice@192.0.2.1/", "USER alice", "110", faultnet.Script{send("+OK\r\n"), expect("CAPA\r\n$"), send("-ERR\r\n"), expect("(?s)^.+$")}},
		{"news://alice@192.0.2.1/local.test", "", "119", faultnet.Script{send("200 hi\r\n"), expect("CAPABILITIES\r\n$"),
			send("101 list\r\nVERSION 2\r\nREADER\r\nAUTHINFO USER\r\n.\r\n"), expect("(?s)^.+$")}},
		{"ldap://alice@192.0.2.1/dc=example", "", "389", nil},
		{"smb://alice@192.0.2.1/share/f", "", "445", nil},
		{"z39.50s://alice@192.0.2.1/Default?x", "alice", "210", faultnet.Script{expect("(?s)^.+$")}},
		{"dict://alice@192.0.2.1/d:word", "AUTH alice", "2628", faultnet.Script{send("220 hi <auth> <7@h>\r\n"), expect("(?s)^.+$")}},
	} {
		t.Run(test.url, func(t *testing.T) {
			for _, url := range []string{test.url, strings.Replace(test.url, "@", ":@", 1)} {
				given := url != test.url
				if given && test.empty == "" {
					continue // the protocol has no empty passwords
				}
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:"+test.port, test.script)
				var challenges []fetch.Challenge
				c := schemetest.NewClient(t, schemes.All(schemes.Options{NNTP: nntp.Options{ClearPassword: true}}), func(o *fetch.Options) {
					o.Dial = n.Dial
					o.Login = func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
						challenges = append(challenges, ch)
						return nil, nil
					}
				})
				_, _, err := schemetest.Read(t, c, url)
				c.Close()
				s.Close()
				var sent string
				for _, conn := range s.Conns() {
					sent += string(conn.All())
				}
				missing := err != nil && strings.Contains(err.Error(), "no password for alice")
				switch {
				case given && (missing || !strings.Contains(sent, test.empty)):
					t.Errorf("%s: got %v, sent %q", url, err, sent)
				case given:
				case !missing || fetch.FaultOf(err) != fetch.Auth || override.Of(err).Kind != override.Login:
					t.Errorf("%s: got %v (%v)", url, err, override.Of(err))
				case len(challenges) != 1 || challenges[0].User != "alice" || challenges[0].Rejected || !challenges[0].Typed:
					t.Errorf("%s: challenges %+v", url, challenges)
				case test.empty != "" && strings.Contains(sent, test.empty):
					t.Errorf("%s: sent %q", url, sent)
				}
			}
		})
	}
}
