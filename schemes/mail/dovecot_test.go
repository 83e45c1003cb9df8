package mail_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t testing.TB, o mail.Options, change ...func(*fetch.Options)) *fetch.Client {
	return schemetest.NewClient(t, mail.Schemes(o), change...)
}

const (
	plainMessage = "From: Alice <alice@example.org>\r\nTo: Bob <bob@example.org>\r\nSubject: tea\r\nDate: Mon, 01 Jan 2024 10:00:00 +0100\r\n" +
		"Message-ID: <tea@example.org>\r\n\r\nTwo lumps.\r\nNo milk.\r\n"
	multipart = "From: Bob <bob@example.org>\r\nTo: alice@example.org\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\nMessage-ID: <m1@example.org>\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=\"BB\"\r\n\r\n--BB\r\nContent-Type: text/plain\r\n\r\nhello text part\r\n--BB\r\n" +
		"Content-Type: application/octet-stream; name=\"d.bin\"\r\nContent-Transfer-Encoding: base64\r\nContent-ID: <part2@example.org>\r\n\r\nAAECAwQF\r\n--BB--\r\n"
)

func dovecot(t *testing.T, opts peer.DovecotOptions) (s *peer.Mail, base string) {
	s = peer.Dovecot(t, opts)
	s.Add(peer.User, "INBOX", plainMessage)
	s.Add(peer.User, "INBOX", multipart)
	s.Add(peer.User, "lists/go", plainMessage)
	s.Add(peer.User, "Entw&APw-rfe", plainMessage) // Entwürfe
	return s, "imap://" + peer.User + ":" + peer.Password + "@" + s.Addr
}

func TestDovecot(t *testing.T) {
	t.Parallel()
	_, base := dovecot(t, peer.DovecotOptions{})
	c := client(t, mail.Options{})
	for _, test := range []struct{ url, want, media string }{
		{"/INBOX/;UID=1", plainMessage, "message/rfc822"},
		{"/INBOX;UID=2", multipart, "message/rfc822"},
		{"/INBOX/;MAILINDEX=1", plainMessage, "message/rfc822"},
		{"/lists/go/;UID=1/;SECTION=TEXT", "Two lumps.\r\nNo milk.\r\n", ""},
		{"/lists%2Fgo;UID=1;SECTION=1", "Two lumps.\r\nNo milk.\r\n", "text/plain"},
		{"/Entw%C3%BCrfe/;UID=1/;SECTION=HEADER.FIELDS%20(subject)", "Subject: tea\r\n\r\n", "text/rfc822-headers"},
		{"/INBOX/;UID=2/;SECTION=2", "AAECAwQF", `application/octet-stream; name="d.bin"`},
		{"/INBOX/;UID=2/;SECTION=1/;PARTIAL=0.5", "hello", "text/plain"},
		{"/INBOX/;UID=2/;SECTION=1/;PARTIAL=6", "text part", "text/plain"},
		{"/INBOX/;UID=2/;SECTION=1/;PARTIAL=100.5", "", "text/plain"},
	} {
		resp, got, err := schemetest.Read(t, c, base+test.url)
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.url, got, err, test.want)
			continue
		}
		if resp.Media != test.media || resp.Size != int64(len(got)) || resp.Kind != fetch.Document || resp.Proto != "IMAP4rev1" {
			t.Errorf("%s: media %q, size %d, %v %s", test.url, resp.Media, resp.Size, resp.Kind, resp.Proto)
		}
	}
	for _, url := range []string{"/INBOX/;UID=9", "/INBOX/;MAILINDEX=9", "/none/;UID=1", "/none", "/INBOX;UIDVALIDITY=1/;UID=1", "/INBOX/;UID=1/;SECTION=7", "/INBOX/;UID=2/;SECTION=2.1.1"} {
		if _, got, err := schemetest.Read(t, c, base+url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %q, %v, want NotFound", url, got, err)
		}
	}
	if _, _, err := schemetest.Read(t, c, strings.Replace(base, peer.Password, "wrong", 1)+"/INBOX/;UID=1"); !errors.Is(err, fetch.Auth) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("wrong password: got %v", err)
	}
}

func TestDovecotListings(t *testing.T) {
	t.Parallel()
	_, base := dovecot(t, peer.DovecotOptions{})
	c := client(t, mail.Options{})
	for _, test := range []struct{ url, want string }{
		{"/", "Entwürfe INBOX lists lists/go"},
		{"/INBOX", "tea café"},
		{"/INBOX/", "tea café"},
		{"/INBOX?ALL", "tea café"},
		{"/INBOX?FROM%20bob", "café"},
		{"/INBOX?SUBJECT%20%22caf%C3%A9%22", "café"},
		{"/INBOX?OR%20FROM%20alice%20(FROM%20bob%20NOT%20SUBJECT%20tea)", "tea café"},
		{"/INBOX?SUBJECT%20coffee", ""},
	} {
		all, err := schemetest.List(t, c, base+test.url)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
			if e.Kind == fetch.Info {
				continue
			}
			u := strings.Replace(e.URL.String(), "imap://"+peer.User+"@", "imap://"+peer.User+":"+peer.Password+"@", 1)
			if _, _, err := schemetest.Read(t, c, u); err != nil {
				t.Errorf("%s: entry %s: %v", test.url, e.URL, err)
			}
		}
		if test.url == "/" {
			slices.Sort(names) // Dovecot sends mailboxes in the order of the file system
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.url, got, test.want)
		}
	}
}
