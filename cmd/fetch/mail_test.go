package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestMail reads a mailbox of a Dovecot server and looks up messages in it.
func TestMail(t *testing.T) {
	s := peer.Dovecot(t, peer.DovecotOptions{})
	message := "From: a@b.example\r\nTo: c@d.example\r\nSubject: one\r\nMessage-ID: <one@test.example>\r\n\r\nhello\r\nFrom here\r\n"
	parts := "From: c@d.example\r\nSubject: two\r\nMessage-ID: <two@test.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		"--b\r\nContent-ID: <part@test.example>\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b--\r\n"
	s.Add(peer.User, "INBOX", message)
	s.Add(peer.User, "INBOX", parts)
	received := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) // the INTERNALDATE, because the messages have no Date
	inbox := "imap://" + peer.User + ":" + peer.Password + "@" + s.Addr + "/INBOX"
	wantOutput := func(want string, args ...string) {
		t.Helper()
		if got := runFetch(t, 0, args...); got != want {
			t.Errorf("fetch %q: got %q, want %q", args, got, want)
		}
	}
	wantOutput(message, "--insecure-auth", inbox+"/;UID=1")
	wantOutput("one\ntwo\n", inbox)
	wantOutput("one\n", inbox+"?SUBJECT%20one")
	contains(t, runFetch(t, 0, "search", inbox, "hello"), " one\n")
	contains(t, runFetch(t, 0, "ls", inbox), "one")
	if got := runFetch(t, 0, "search", "--max", "1", "--urls", inbox, "example"); strings.Count(got, "\n") != 1 {
		t.Errorf("search --max 1: got %q", got)
	}
	wantOutput("", strings.Replace(inbox, "INBOX", "", 1)+"INBOX?SUBJECT%20three")
	runFetch(t, 8, inbox+"/;UID=99")
	runFetch(t, 8, inbox+"/;UID=2/;SECTION=7")
	runFetch(t, 8, inbox+";UIDVALIDITY=1/;UID=1")
	runFetch(t, 8, inbox+"none")
	runFetch(t, 6, strings.Replace(inbox, peer.Password, "wrong", 1))
	runFetch(t, 5, "--ssl-reqd", inbox)

	first := "From a@b.example Mon Jan  1 00:00:00 2024\n" + strings.Replace(strings.ReplaceAll(message, "\r\n", "\n"),
		"\nFrom here", "\n>From here", 1) + "\n"
	box := first + "From c@d.example Mon Jan  1 00:00:00 2024\n" + strings.ReplaceAll(parts, "\r\n", "\n") + "\n"
	dir := t.TempDir()
	mbox, maildir := filepath.Join(dir, "box"), filepath.Join(dir, "md")
	wantOutput(box, "--mbox", inbox)
	wantOutput(first, "--mbox", inbox+"/;UID=1")
	wantOutput(first, "--mbox", inbox+"/;MAILINDEX=1")
	archive := filepath.Join(dir, "archive")
	runFetch(t, 0, "mirror", "--output-dir", archive, "--mailboxes", "mbox", inbox)
	mirrored, err := os.ReadFile(filepath.Join(archive, "mail", strings.Replace(s.Addr, ":", "+", 1), "INBOX.mbox"))
	if err != nil || string(mirrored) != box {
		t.Errorf("mirrored: got %q, %v, want %q", mirrored, err, box)
	}
	wantOutput(strconv.Itoa(len(box)), "--mbox", "-o", os.DevNull, "-w", "%{size_download}", inbox)
	wantOutput(strconv.Itoa(len(runFetch(t, 0, "ls", "--native", inbox))), "-o", os.DevNull, "-w", "%{size_download}",
		inbox)
	wantOutput(box, "--mbox", "--mail-store", inbox, "mailto:c@d.example")
	wantOutput("", "-o", mbox, "--mbox", "--mail-store", inbox, "mailto:C@D.example")
	wantOutput("", "--maildir", maildir, inbox)
	delivered, err := filepath.Glob(filepath.Join(maildir, "new", strconv.FormatInt(received.Unix(), 10)+".*"))
	if err != nil || len(delivered) != 2 {
		t.Errorf("the Maildir has %q, %v", delivered, err)
	}
	for _, store := range []string{inbox, mbox, maildir} {
		contains(t, runFetch(t, 0, "--mail-store", store, "mid:one@test.example"), "hello")
		wantOutput("hello", "--mail-store", store, "mid:two@test.example/part@test.example")
		wantOutput("hello", "--mail-store", store, "--in", "mid:two@test.example", "cid:part@test.example")
		contains(t, runFetch(t, 0, "--mail-store", store, "ls", "mailto:c@d.example"), " one\n", " two\n")
		runFetch(t, 8, "--mail-store", store, "mid:none@test.example")
	}
	wantOutput("hello", "--in", inbox+"/;UID=2", "cid:part@test.example")
	runFetch(t, 2, "cid:part@test.example")
	runFetch(t, 12, "mid:one@test.example")
	runFetch(t, 12, "mailto:c@d.example")
}
