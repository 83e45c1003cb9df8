package peer_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestCyrusImapd(t *testing.T) {
	t.Parallel()
	s := peer.CyrusImapd(t)
	s.Add("INBOX", "From: a@example.org\r\nSubject: one\r\n\r\nfirst\r\n")
	s.Add("INBOX", "From: a@example.org\r\nSubject: two\r\n\r\nsecond\r\n")
	s.Add("INBOX/lists", "From: a@example.org\r\nSubject: three\r\n\r\nthird\r\n")
	login := peer.User + ":" + peer.Password
	for _, test := range []struct{ name, url, want string }{
		{"message", "/INBOX;UID=2", "From: a@example.org\r\nSubject: two\r\n\r\nsecond\r\n"},
		{"mailbox below", "/INBOX%2Flists;UID=1;SECTION=TEXT", "third\r\n"},
		{"search", "/INBOX?SUBJECT%20two", "* SEARCH 2\r\n"},
	} {
		if got := curl(t, "-u", login, "imap://"+s.Addr+test.url); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if out, err := tryCurl(t, "-u", peer.User+":wrong", "imap://"+s.Addr+"/INBOX;UID=1"); err == nil {
		t.Errorf("wrong password: got %q", out)
	}
}
