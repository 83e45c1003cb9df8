package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestPOP retrieves, lists and mirrors the messages of a POP3 server.
func TestPOP(t *testing.T) {
	s := peer.Dovecot(t, peer.DovecotOptions{POP3: true, TLS: true})
	s.Add(peer.User, "INBOX", "Subject: one\r\n\r\neins\r\n")
	s.Add(peer.User, "INBOX", "Subject: two\r\n\r\n.zwei\r\n")
	root := "pop://" + peer.User + "@" + s.Addr
	login := []string{"-u", peer.User + ":" + peer.Password, "--cacert", s.Cert.File}
	run := func(code int, args ...string) string { return runFetch(t, code, append(args, login...)...) }
	contains(t, run(0, root+"/2"), "Subject: two\r\n\r\n.zwei\r\n")
	contains(t, run(0, root+"/"), "1 22\r\n2 23\r\n")
	contains(t, run(0, "ls", "--urls", root+"/"), root+"/1\n"+root+"/2\n")
	contains(t, run(0, "info", root+"/2"), `"size":23`, `"media":"message/rfc822"`)
	contains(t, run(0, "pops://"+peer.User+"@"+s.TLSAddr+"/1"), "eins")
	contains(t, run(0, "--ssl-reqd", "--sasl", "PLAIN", "pop3://"+s.Addr+"/1"), "eins")
	contains(t, run(0, "--mbox", root+"/1"), "From ", "eins\n")
	contains(t, runFetch(t, 0, "plan", "pop://h/7"), "CAPA\nSTLS\nRETR 7\n")
	contains(t, commandtest.MirrorOne(t, "pop://"+s.Addr+"/", login...), "zwei", "WARC-Target-URI: pop://"+s.Addr+"/2", "received: +OK", "sent: RETR 2")
	dir := t.TempDir()
	for _, subject := range []string{"two", "three"} { // the second run has a new message
		run(0, "mirror", "--mailboxes", "mbox", "--output-dir", dir, "pop://"+s.Addr+"/")
		boxes, err := filepath.Glob(filepath.Join(dir, "mail", "*", "INBOX.mbox"))
		if err != nil || len(boxes) != 1 {
			t.Fatalf("got %q, %v", boxes, err)
		}
		text, err := os.ReadFile(boxes[0])
		if err != nil {
			t.Fatal(err)
		}
		contains(t, string(text), "Subject: one", "Subject: "+subject)
		s.Add(peer.User, "INBOX", "Subject: three\r\n\r\ndrei\r\n")
	}
	run(8, root+"/9")
	run(2, root+"/x")
	runFetch(t, 6, "--cacert", s.Cert.File, "-u", peer.User+":wrong", root+"/1")
	runFetch(t, 5, "-u", peer.User+":"+peer.Password, root+"/1")
}
