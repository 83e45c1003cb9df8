package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestNews reads groups and articles of an INN server.
func TestNews(t *testing.T) {
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}})
	article := "Path: test\r\nFrom: a@b.example\r\nNewsgroups: local.test\r\nSubject: one\r\nMessage-ID: <one@test.example>\r\n" +
		"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n\r\nFrom the body\r\n.dots\r\n"
	s.Feed(article)
	contains(t, runFetch(t, 0, "--news-server", s.Addr, "news:one@test.example"), "Subject: one\r\n",
		"\r\n\r\nFrom the body\r\n.dots\r\n")
	contains(t, runFetch(t, 0, "ls", "nntp://"+s.Addr+"/local.test"), "one")
	contains(t, runFetch(t, 0, "ls", "nntp://"+s.Addr+"/local.test/1-2"), "one")
	contains(t, runFetch(t, 0, "ls", "--news-server", s.Addr, "news:*"), "local.test")
	contains(t, runFetch(t, 0, "ls", "--json", "nntp://"+s.Addr+"/local.test"), `"message_id":"<one@test.example>"`)
	contains(t, runFetch(t, 0, "--mbox", "nntp://"+s.Addr+"/local.test/1-9"), "Subject: one\n", "\n>From the body\n")
	contains(t, runFetch(t, 0, "--part", "1", "--news-server", s.Addr, "news:one@test.example"), "From the body")
	contains(t, runFetch(t, 0, "ls", "--field", "From", "nntp://"+s.Addr+"/local.test"), " a@b.example\n")
	contains(t, runFetch(t, 0, "ls", "--describe", "nntp://"+s.Addr+"/local.*"), " local.test\tA group of this test\n")
	contains(t, runFetch(t, 0, "ls", "-z", "2001-09-09", "nntp://"+s.Addr+"/local.test"), "<one@test.example>")
	if got := runFetch(t, 0, "ls", "-z", "2099-09-09", "--compressed", "nntp://"+s.Addr+"/local.*"); got != "" {
		t.Errorf("groups after 2099: %q", got)
	}
	if got := runFetch(t, 0, "-z", "2026-11-20 10:00:00", "--news-server", s.Addr, "news:one@test.example"); got != "" {
		t.Errorf("got an old article: %q", got)
	}
	runFetch(t, 2, "ls", "--field", "a b", "nntp://"+s.Addr+"/local.test")
	runFetch(t, 8, "--news-server", s.Addr, "news:none@test.example")

	dir := filepath.Join(t.TempDir(), "box")
	runFetch(t, 0, "--maildir", dir, "nntp://"+s.Addr+"/local.test")
	if files, err := os.ReadDir(filepath.Join(dir, "new")); err != nil || len(files) != 1 {
		t.Errorf("the Maildir has %d messages, %v", len(files), err)
	}
	runFetch(t, 2, "--body", "--maildir", dir, "nntp://"+s.Addr+"/local.test")
	for _, flag := range []string{"--mbox", "--maildir=" + dir} { // a listing of groups cannot be a mailbox
		if got := runFetch(t, 12, flag, "nntp://"+s.Addr+"/*"); got != "" {
			t.Errorf("%s wrote %q", flag, got)
		}
		runFetch(t, 12, "--headers", flag, "nntp://"+s.Addr+"/local.test")
	}
	if files, err := os.ReadDir(filepath.Join(dir, "new")); err != nil || len(files) != 1 {
		t.Errorf("the Maildir has %d messages, %v", len(files), err)
	}
	state := filepath.Join(t.TempDir(), "marks")
	contains(t, runFetch(t, 0, "--state", state, "ls", "nntp://"+s.Addr+"/local.test"), "one")
	if again := runFetch(t, 0, "--state", state, "ls", "nntp://"+s.Addr+"/local.test"); again != "" {
		t.Errorf("the second run listed %q again", again)
	}
}

// TestGopher reads files and menus of a Gophernicus server.
func TestGopher(t *testing.T) {
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	s.Put("hello.txt", []byte("hello\n"))
	s.Put("dir/x", []byte("x"))
	contains(t, runFetch(t, 0, "gopher://"+s.Addr+"/0/hello.txt"), "hello\r\n") // gophernicus converts line ends
	contains(t, runFetch(t, 0, "ls", "gopher://"+s.Addr+"/"), "hello.txt", "menu ")
	runFetch(t, 8, "gopher://"+s.Addr+"/0/none")
	runFetch(t, 2, "gopher://"+s.Addr+"/0a%0d%0aQUIT")
}

// TestFTP reads files and listings of a vsftpd server.
func TestFTP(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.Put("hello.txt", []byte("hello\n"))
	s.Put("dir/x", []byte("x"))
	if got := runFetch(t, 0, "ftp://"+s.Addr+"/hello.txt"); got != "hello\n" {
		t.Errorf("got %q", got)
	}
	contains(t, runFetch(t, 0, "ls", "ftp://"+s.Addr+"/"), "hello.txt", "dir")
	contains(t, runFetch(t, 0, "ftp://"+s.Addr+"/"), " hello.txt\n")
	contains(t, runFetch(t, 0, "--raw", "ftp://"+s.Addr+"/"), " hello.txt\r\n")
	contains(t, runFetch(t, 0, "ls", "--native", "ftp://"+s.Addr+"/"), " hello.txt\r\n")
	var out, stderr bytes.Buffer
	app.Run([]string{"--no-config", "-v", "ls", "ftp://" + s.Addr + "/dir/", "ftp://" + s.Addr + "/dir/"},
		strings.NewReader(""), &out, &stderr)
	if contains(t, stderr.String(), "cached listing, 0s old"); strings.Count(out.String(), " x\n") != 2 {
		t.Errorf("two listings: got %q", &out)
	}
	runFetch(t, 11, "--checksum", "sha256="+strings.Repeat("0", 64), "ftp://"+s.Addr+"/hello.txt")
	runFetch(t, 8, "ftp://"+s.Addr+"/none")
	runFetch(t, 2, "ftp://"+s.Addr+"/a%0d%0aDELE%20x")
}
