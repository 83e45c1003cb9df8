package mail_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/format/mailstore"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	s := peer.Dovecot(t, peer.DovecotOptions{Config: []string{"mail_max_userip_connections = 100"}})
	large := plainMessage + strings.Repeat("A line among many.\r\n", 10_000)
	s.Add(peer.User, "INBOX", plainMessage)
	s.Add(peer.User, "INBOX", large)
	base := "imap://" + peer.User + ":" + peer.Password + "@" + s.Addr
	fetchtest.Run(t, fetchtest.Suite{
		// The entries of a listing need credentials, so the suite must not
		// fetch them.
		Schemes:  func() []fetch.Scheme { return mail.Schemes(mail.Options{}) },
		Document: base + "/INBOX/;UID=2",
		Body:     []byte(large),
		Missing:  base + "/INBOX/;UID=9",
		Menu:     base + "/",
		Names:    []string{"INBOX"},
		Rejected: []string{base + "/a%0d%0ab", base + "/INBOX/;UID=x", "imap://h:25/INBOX", "mid:a%0ab", "cid:x@y", "mailto:x@y"},
	})
}

// TestSuiteStores runs the suite for imaps, mid and mailto, and for stores in
// files.
func TestSuiteStores(t *testing.T) {
	t.Parallel()
	s := peer.Dovecot(t, peer.DovecotOptions{TLS: true, Config: []string{"mail_max_userip_connections = 100"}})
	s.Add(peer.User, "INBOX", plainMessage)
	s.Add(peer.User, "INBOX", multipart)
	dir := t.TempDir()
	mbox, maildir := filepath.Join(dir, "box"), mailstore.OpenMaildir(filepath.Join(dir, "md"))
	text := "From alice@example.org Mon Jan  1 09:00:00 2024\n" + lf(plainMessage) + "\nFrom bob@example.org Mon Jan  1 00:00:00 2024\n" + lf(multipart) + "\n"
	if err := errors.Join(os.WriteFile(mbox, []byte(text), 0o600), maildir.Create()); err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{plainMessage, multipart} {
		if _, err := maildir.Deliver(strings.NewReader(message), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	login := peer.User + ":" + peer.Password + "@"
	imaps, inbox := "imaps://"+login+s.TLSAddr, "imap://"+login+s.Addr+"/INBOX"
	trusting := fetch.Options{TLS: &tls.Config{RootCAs: s.Cert.Pool}}
	schemes := func(o mail.Options) func() []fetch.Scheme {
		return func() []fetch.Scheme { return mail.Schemes(o) }
	}
	for name, suite := range map[string]fetchtest.Suite{
		"imaps":           {Schemes: schemes(mail.Options{}), Options: trusting, Document: imaps + "/INBOX/;UID=1", Body: []byte(plainMessage), Missing: imaps + "/none", Menu: imaps + "/INBOX", Names: []string{"tea"}},
		"imap, an mbox":   {Schemes: schemes(mail.Options{Mbox: true}), Options: trusting, Document: inbox, Body: []byte(text), Missing: inbox + "none", NoRanges: true},
		"mid, imap":       {Schemes: schemes(mail.Options{Stores: []string{inbox}}), Options: trusting, Document: "mid:tea@example.org", Body: []byte(plainMessage), Missing: "mid:none@example.org", Menu: "mailto:bob@example.org", Names: []string{"tea"}, NoRanges: true, Local: true},
		"mid, Maildir":    {Schemes: schemes(mail.Options{Stores: []string{filepath.Join(dir, "md")}}), Document: "mid:tea@example.org", Body: []byte(plainMessage), Missing: "mid:tea@example.org/none", Menu: "mailto:bob@example.org", Names: []string{"tea", "café"}, NoRanges: true, Local: true},
		"mid, a part":     {Schemes: schemes(mail.Options{Stores: []string{mbox}}), Document: "mid:m1@example.org/part2@example.org", Body: []byte("\x00\x01\x02\x03\x04\x05"), Missing: "mid:none@example.org", Rejected: []string{"mid:a%0d@b", "cid:part2@example.org"}, NoRanges: true, Local: true},
		"mailto, an mbox": {Schemes: schemes(mail.Options{Stores: []string{mbox}, Mbox: true}), Document: "mailto:bob@example.org", Body: []byte(text), Rejected: []string{"mailto:", "mailto:bob%0d%0a@example.org"}, NoRanges: true, Local: true},
	} {
		t.Run(name, func(t *testing.T) { fetchtest.Run(t, suite) })
	}
}

// TestSweep makes each network operation of a login and two messages fail.
func TestSweep(t *testing.T) {
	answer := func(n int) *faultnet.Hook {
		text := fmt.Sprintf("* 1 FETCH (UID 1 BODY[] {28}\r\nSubject: a\r\n\r\nhello, hello\r\n)\r\nT%d OK done\r\n", n)
		return faultnet.On(fmt.Sprintf(`^T%d UID FETCH 1 BODY`, n), 0, faultnet.Send(text))
	}
	const url = "imap://bob:s3cret@192.0.2.1/INBOX/;UID=1"
	schemetest.Sweep{
		Schemes: func() []fetch.Scheme { return mail.Schemes(mail.Options{}) },
		URLs:    []string{url, url}, Body: "Subject: a\r\n\r\nhello, hello\r\n",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:143", faultnet.Script{
				faultnet.Send("* OK [CAPABILITY IMAP4rev1] ready\r\n"),
				faultnet.Lines(
					faultnet.On(`^A1 LOGIN "bob" "s3cret"`, 0, faultnet.Send("A1 OK [CAPABILITY IMAP4rev1] welcome\r\n")),
					faultnet.On(`^T1 EXAMINE INBOX`, 0, faultnet.Send("* 1 EXISTS\r\n* OK [UIDVALIDITY 3] x\r\nT1 OK done\r\n")),
					answer(2), answer(3), faultnet.On("^Z LOGOUT", 0)),
			}).Close
		},
	}.Run(t)
}
