package mail_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestCyrus tests messages, listings and stores of Cyrus IMAP, which orders
// response items differently and uses different errors.
func TestCyrus(t *testing.T) {
	t.Parallel()
	s := peer.CyrusImapd(t)
	s.Add("INBOX", plainMessage)
	s.Add("INBOX", multipart)
	s.Add("INBOX/lists", plainMessage)
	s.Add("INBOX/Entw&APw-rfe", plainMessage) // Entwürfe
	base := "imap://" + peer.User + ":" + peer.Password + "@" + s.Addr
	c := client(t, mail.Options{})
	for _, test := range []struct{ url, want, media string }{
		{"/INBOX/;UID=1", plainMessage, "message/rfc822"},
		{"/INBOX/;MAILINDEX=2", multipart, "message/rfc822"},
		{"/INBOX/lists/;UID=1/;SECTION=TEXT", "Two lumps.\r\nNo milk.\r\n", ""},
		{"/INBOX/Entw%C3%BCrfe/;UID=1/;SECTION=HEADER.FIELDS%20(subject)", "Subject: tea\r\n\r\n", "text/rfc822-headers"},
		{"/INBOX/;UID=2/;SECTION=2", "AAECAwQF", `application/octet-stream; name="d.bin"`},
		{"/INBOX/;UID=2/;SECTION=1/;PARTIAL=0.5", "hello", "text/plain"},
		{"/INBOX/;UID=2/;SECTION=1/;PARTIAL=6", "text part", "text/plain"},
		{"/INBOX/;UID=2/;SECTION=1/;PARTIAL=100.5", "", "text/plain"},
	} {
		resp, got, err := schemetest.Read(t, c, base+test.url)
		if err != nil || got != test.want || resp.Media != test.media || resp.Size != int64(len(got)) {
			t.Errorf("%s: got %q, %v, want %q", test.url, got, err, test.want)
		}
	}
	for _, url := range []string{"/INBOX/;UID=9", "/INBOX/;MAILINDEX=9", "/none", "/INBOX;UIDVALIDITY=1/;UID=1", "/INBOX/;UID=1/;SECTION=7", "/INBOX/;UID=2/;SECTION=2.1.1"} {
		if _, got, err := schemetest.Read(t, c, base+url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %q, %v, want NotFound", url, got, err)
		}
	}
	for path, want := range map[string]string{
		"/":                                "INBOX INBOX/Entwürfe INBOX/lists",
		"/INBOX":                           "tea café",
		"/INBOX?FROM%20bob":                "café",
		"/INBOX?SUBJECT%20%22caf%C3%A9%22": "café",
		"/INBOX?SUBJECT%20coffee":          "",
	} {
		all, err := schemetest.List(t, c, base+path)
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	if _, got, err := schemetest.Read(t, client(t, mail.Options{Mbox: true}), base+"/INBOX"); err != nil || strings.Count(got, "\nMessage-ID: ") != 2 {
		t.Errorf("mbox: got %q, %v", got, err)
	}
	store := client(t, mail.Options{Stores: []string{base}})
	if _, got, err := schemetest.Read(t, store, "mid:m1@example.org/part2@example.org"); err != nil || got != "\x00\x01\x02\x03\x04\x05" {
		t.Errorf("mid: got %q, %v", got, err)
	}
}

// TestCyrusLogins tests each mechanism with the right and with a wrong
// password.
func TestCyrusLogins(t *testing.T) {
	t.Parallel()
	s := peer.CyrusImapd(t)
	s.Add("INBOX", plainMessage)
	for _, name := range []string{"", "PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256", "+LOGIN"} {
		for _, password := range []string{peer.Password, "wrong"} {
			u := "imap://" + peer.User + ":" + password + "@" + s.Addr + "/INBOX/;UID=1"
			_, got, err := schemetest.Read(t, client(t, mail.Options{Mechanism: name}), u)
			if right := password == peer.Password; right && (err != nil || got != plainMessage) || !right && !errors.Is(err, fetch.Auth) {
				t.Errorf("%s, %s: got %q, %v", name, password, got, err)
			}
		}
	}
	// An anonymous user must not see the mail of other users.
	if _, got, err := schemetest.Read(t, client(t, mail.Options{Mechanism: "ANONYMOUS"}), "imap://"+s.Addr+"/INBOX/;UID=1"); !errors.Is(err, fetch.NotFound) && !errors.Is(err, fetch.Denied) {
		t.Errorf("anonymous: got %q, %v", got, err)
	}
}
