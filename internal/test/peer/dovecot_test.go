package peer_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestDovecot(t *testing.T) {
	t.Parallel()
	s := peer.Dovecot(t, peer.DovecotOptions{TLS: true})
	s.Add(peer.User, "INBOX", "From: a@example.org\nSubject: one\n\nfirst\n")
	s.Add(peer.User, "INBOX", "From: a@example.org\nSubject: two\n\nsecond\n")
	s.Add(peer.User, "lists/go", "From: a@example.org\nSubject: three\n\nthird\n")
	login := peer.User + ":" + peer.Password
	localhost := strings.Replace(s.Addr, "127.0.0.1", "localhost", 1)
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"message", "From: a@example.org\r\nSubject: two\r\n\r\nsecond\r\n", []string{"-u", login, "imap://" + s.Addr + "/INBOX;UID=2"}},
		{"mailbox below", "third\r\n", []string{"-u", login, "imap://" + s.Addr + "/lists%2Fgo;UID=1;SECTION=TEXT"}},
		{"STARTTLS", "first\r\n", []string{"-u", login, "--ssl-reqd", "--cacert", s.Cert.File, "imap://" + localhost + "/INBOX;UID=1;SECTION=TEXT"}},
		{"TLS", "first\r\n", []string{"-u", login, "--cacert", s.Cert.File, "imaps://localhost:" + portOf(s.TLSAddr) + "/INBOX;UID=1;SECTION=TEXT"}},
		{"search", "* SEARCH 2\r\n", []string{"-u", login, "imap://" + s.Addr + "/INBOX?SUBJECT%20two"}},
	} {
		if got := curl(t, test.args...); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if out, err := tryCurl(t, "-u", peer.User+":wrong", "imap://"+s.Addr+"/INBOX;UID=1"); err == nil {
		t.Errorf("wrong password: got %q", out)
	}
	got := talk(t, dial(t, s.Addr), "a AUTHENTICATE ANONYMOUS YQ==")
	if !strings.HasPrefix(got[1], "a OK ") {
		t.Errorf("ANONYMOUS: %q", got)
	}
}
