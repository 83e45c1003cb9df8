package mail_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/uri"
)

// TestPasswordPrompt tests when Options.Login is called, with which challenge,
// and how often.
func TestPasswordPrompt(t *testing.T) {
	accept := faultnet.On(`LOGIN "bob" "right"`, 0, faultnet.Send("A1 OK [CAPABILITY IMAP4rev1] in\r\n"))
	acceptAgain := faultnet.On(`^A2 LOGIN "bob" "right"`, 0, faultnet.Send("A2 OK [CAPABILITY IMAP4rev1] in\r\n"))
	refuse := faultnet.On(`^A1 LOGIN "bob" "wrong"`, 0, faultnet.Send("A1 NO \x1bno\r\n"))
	refuseAgain := faultnet.On(`^A2 LOGIN "bob" "wrong"`, 0, faultnet.Send("A2 NO no\r\n"))
	mailbox := faultnet.On(`^T1 EXAMINE`, 0, faultnet.Send("* 0 EXISTS\r\nT1 OK done\r\n"))
	for _, test := range []struct {
		name, url, want string
		answers         []string
		fault           string
	}{
		{"user without password", "imap://bob@192.0.2.1/INBOX", "bob imap; ", []string{"bob:right"}, "ok"},
		{"no user", "imap://192.0.2.1/INBOX", " imap; ", []string{"bob:right"}, "ok"},
		{"a wrong password", "imap://bob:wrong@192.0.2.1/INBOX", "bob \x1bno again; ", []string{"bob:right"}, "ok"},
		{"wrong password twice", "imap://bob:wrong@192.0.2.1/INBOX", "bob \x1bno again; ", []string{"bob:wrong"}, "auth"},
		{"no credentials from the prompt", "imap://bob:wrong@192.0.2.1/INBOX", "bob \x1bno again; ", nil, "auth"},
		{"prompt returns another user", "imap://bob@192.0.2.1/INBOX", "bob imap; ", []string{"eve:right"}, "auth"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:143", faultnet.Script{faultnet.Send("* OK [CAPABILITY IMAP4rev1] ready\r\n"),
					faultnet.Lines(acceptAgain, accept, refuse, refuseAgain, faultnet.On(`^A1 LOGIN "bob" ""`, 0, faultnet.Send("A1 NO no\r\n")), mailbox, faultnet.On("LOGOUT", 0))})
				var challenges strings.Builder
				c := client(t, mail.Options{}, func(o *fetch.Options) {
					o.Dial = n.Dial
					o.Login = func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
						suffix := map[bool]string{true: " again"}[ch.Rejected]
						fmt.Fprintf(&challenges, "%s %s%s; ", ch.User, ch.Realm, suffix)
						if len(test.answers) == 0 {
							return nil, nil
						}
						user, password, _ := strings.Cut(test.answers[0], ":")
						test.answers = test.answers[1:]
						return &fetch.Credential{User: user, Password: fetch.Secret(password)}, nil
					}
				})
				_, err := schemetest.List(t, c, test.url)
				fault := "ok"
				if err != nil {
					fault = fetch.FaultOf(err).String()
				}
				if fault != test.fault || challenges.String() != test.want {
					t.Errorf("got %v, challenges %q, want %s, %q", err, challenges.String(), test.fault, test.want)
				}
				c.Close()
				synctest.Wait()
				s.Close()
			})
		})
	}
}

// TestPlaintextPassword tests that no password is sent in plaintext if another
// server has named the URL.
func TestPlaintextPassword(t *testing.T) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("198.41.0.4:143", faultnet.Script{faultnet.Send("* OK [CAPABILITY IMAP4rev1] ready\r\n"), faultnet.Lines(faultnet.On("LOGOUT", 0))})
	c := client(t, mail.Options{}, func(o *fetch.Options) { o.Dial = n.Dial })
	req := &fetch.Request{URL: uri.MustParse("imap://198.41.0.4/INBOX"), Auth: &fetch.Credential{User: "bob", Password: "s3cret"},
		From: &fetch.Source{URL: uri.MustParse("imap://198.41.0.4/"), Peer: netip.MustParseAddr("198.41.0.4")}}
	if _, _, err := schemetest.ReadRequest(t, c, req); !errors.Is(err, fetch.Auth) || !strings.Contains(err.Error(), "in plaintext") {
		t.Errorf("got %v", err)
	}
	c.Close()
	if sent := string(s.Conns()[0].All()); strings.Contains(sent, "s3cret") {
		t.Errorf("sent %q", sent)
	}
}

// TestConnectionErrors tests failures before the greeting.
func TestConnectionErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		script faultnet.Script
		fault  fetch.Fault
		took   time.Duration
	}{
		{"refused", faultnet.Script{faultnet.Refuse()}, fetch.Connect, 0},
		{"no response", faultnet.Script{faultnet.Blackhole()}, fetch.Timeout, 10 * time.Second},
		{"reset", faultnet.Script{faultnet.Reset()}, fetch.Connect, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := faultnet.NewNetwork(t)
			s := n.Serve("192.0.2.1:143", test.script)
			start := time.Now()
			_, _, err := schemetest.Read(t, client(t, mail.Options{}, func(o *fetch.Options) { o.Dial = n.Dial }), "imap://192.0.2.1/INBOX")
			if took := time.Since(start); !errors.Is(err, test.fault) || took > test.took {
				t.Errorf("%s: got %v after %v", test.name, err, took)
			}
			s.Close()
		})
	}
	schemetest.Names(t, mail.Schemes(mail.Options{}), "imap://h.example/INBOX")
}

// TestTooLarge tests that a message larger than Policy.MaxBody is rejected
// before the download.
func TestTooLarge(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:143", faultnet.Script{faultnet.Send("* PREAUTH [CAPABILITY IMAP4rev1] hi\r\n"), faultnet.Expect("\r\n$"), faultnet.Send("* 1 EXISTS\r\nT1 OK\r\n"),
		faultnet.Expect("\r\n$"), faultnet.Send("* 1 FETCH (UID 1 BODY[] {4294967295}\r\n\r\n"), faultnet.SendBytes(1 << 30)})
	c := client(t, mail.Options{}, func(o *fetch.Options) { o.Dial, o.Policy.MaxBody = n.Dial, 1<<20 })
	if _, got, err := schemetest.Read(t, c, "imap://192.0.2.1/INBOX/;UID=1"); !errors.Is(err, fetch.TooLarge) || got != "" {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// TestMemServer tests messages and listings of the in-memory server of go-imap.
func TestMemServer(t *testing.T) {
	t.Parallel()
	memory := imapmemserver.New()
	user := imapmemserver.NewUser("bob", "s3cret")
	memory.AddUser(user)
	for _, name := range []string{"INBOX", "Entwürfe"} {
		if err := user.Create(name, nil); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{plainMessage, multipart} {
			if _, err := user.Append(name, literal{strings.NewReader(text)}, &imap.AppendOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		Caps:         imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapIMAP4rev2: {}},
		InsecureAuth: true,
	})
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	base := "imap://bob:s3cret@" + ln.Addr().String()
	c := client(t, mail.Options{})
	for url, want := range map[string]string{
		"/INBOX/;UID=1":                          plainMessage,
		"/Entw%C3%BCrfe/;UID=2":                  multipart,
		"/INBOX/;UID=2/;SECTION=2":               "AAECAwQF",
		"/INBOX/;UID=1/;SECTION=TEXT":            "Two lumps.\r\nNo milk.\r\n",
		"/INBOX/;UID=1/;PARTIAL=0.4":             "From",
		"/INBOX/;MAILINDEX=1/;SECTION=1":         "Two lumps.\r\nNo milk.\r\n",
		"/INBOX/;UID=1/;SECTION=TEXT/;PARTIAL=4": "lumps.\r\nNo milk.\r\n",
	} {
		if _, got, err := schemetest.Read(t, c, base+url); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", url, got, err, want)
		}
	}
	for url, want := range map[string]int{"/": 2, "/INBOX": 2, "/INBOX?SUBJECT%20tea": 1, "/INBOX?BODY%20%22no%20such%22": 0} {
		if all, err := schemetest.List(t, c, base+url); err != nil || len(all) != want {
			t.Errorf("%s: got %v, %v, want %d", url, all, err, want)
		}
	}
	for _, url := range []string{"/none", "/INBOX/;UID=9"} {
		if _, got, err := schemetest.Read(t, c, base+url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %q, %v, want NotFound", url, got, err)
		}
	}
}

type literal struct{ *strings.Reader }

func (l literal) Size() int64 { return l.Reader.Size() }
