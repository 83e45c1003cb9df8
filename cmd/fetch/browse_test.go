package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// runBrowse runs fetch browse with commands from a pipe, and checks the exit code.
func runBrowse(t *testing.T, want int, commands string, args ...string) (out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	all := append([]string{"--no-config", "--retry", "0", "browse"}, args...)
	if got := app.Run(all, strings.NewReader(commands), &stdout, &stderr); got != want {
		t.Errorf("%q: exit code %d, want %d: %s\n%s", args, got, want, &stderr, &stdout)
	}
	return stdout.String(), stderr.String()
}

// gopherServer serves items by selector. An answer "words" is the answer to a
// search.
func gopherServer(t *testing.T, items map[string]string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 200)
			n, _ := c.Read(request)
			selector := strings.TrimRight(string(request[:n]), "\r\n")
			io.WriteString(c, strings.ReplaceAll(items[selector], "HERE", "127.0.0.1\t"+port))
			c.Close()
		}
	}()
	return "gopher://" + l.Addr().String()
}

// TestBrowseGopher opens items of menus, and searches.
func TestBrowseGopher(t *testing.T) {
	url := gopherServer(t, map[string]string{
		"": "iWelcome\x1b[2J\t\tnull\t1\r\n1Docs\t/docs\tHERE\r\n7Find\t/find\tHERE\r\n" +
			"8Login\t\tHERE\r\nhWeb\tURL:http://127.0.0.1:1/\tHERE\r\n.\r\n",
		"/docs":             "0About\t/docs/about\tHERE\r\n.\r\n",
		"/docs/about":       "About this server\r\n.\r\n",
		"/find\twhale ship": "0Moby\t/moby\tHERE\r\n.\r\n",
		"/moby":             "Call me Ishmael.\r\n.\r\n",
	})
	out, _ := runBrowse(t, 0, "1\n1\nu\nu\n", url)
	contains(t, out, "Welcome\\x1b[2J\n 1  menu      Docs\n 2  search    Find\n 3  session   Login\n", "About this server\n",
		"docs\n"+url+"/1/docs\n\n 1  document  About\n")
	if n := strings.Count(out, "Welcome"); n != 2 {
		t.Errorf("u printed the root %d times, want 2", n)
	}
	out, _ = runBrowse(t, 0, "2\n/ whale ship\n1\nb\nb\n/whale ship\n", url)
	contains(t, out, "This is a searchable index. Type /WORDS to search it.\n", " 1  document  Moby\n", "Call me Ishmael.\n")
	if n := strings.Count(out, "Moby\n"); n != 3 {
		t.Errorf("the results are printed %d times, want 3", n)
	}
	_, messages := runBrowse(t, 9, "3\n", url)
	contains(t, messages, "URLs of this scheme must come from the user")
	_, messages = runBrowse(t, 9, "4\n", url)
	contains(t, messages, "port below 1024 belongs to another service")
}

// TestBrowseFTP opens directories and files of an FTP server.
func TestBrowseFTP(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.Put("hello.txt", []byte("hello\n"))
	s.Put("pub/deep/x.txt", []byte("deep\n"))
	s.Put("pub/data.bin", bytes.Repeat([]byte{0, 1, 2}, 1000))
	name := filepath.Join(t.TempDir(), "data.bin")
	out, _ := runBrowse(t, 0, "2\n2\n1\nu\nu\n1\ns "+name+"\n", "ftp://"+s.Addr+"/")
	contains(t, out, "directory     -", "  hello.txt\n", "\n\ndeep\n", "3000 bytes. Type s FILE to save it.\n",
		"Saved 3000 bytes in "+name+".\n")
	if body, err := os.ReadFile(name); err != nil || len(body) != 3000 {
		t.Errorf("saved %d bytes, %v", len(body), err)
	}
}

// TestBrowseWAIS searches a database and opens a document that was found.
func TestBrowseWAIS(t *testing.T) {
	song := waistest.NewText("/data/songs.txt", "Songs of whales", "The humpback whale sings.\n")
	db := &waistest.Database{Documents: []*waistest.Document{song}}
	db.Rank = func(*z3950.Query) []waistest.Hit { return []waistest.Hit{{Document: song, Score: z3950.Some(1000)}} }
	server := &waistest.Server{Databases: map[string]*waistest.Database{"sea": db}}
	l := faultnet.Listen(t, faultnet.Script{server.Step()})
	out, _ := runBrowse(t, 0, "/whale\n1\n", "wais://"+l.Addr().String()+"/sea")
	contains(t, out, "Type /WORDS to search it.\n", "Songs of whales\n", "\nThe humpback whale sings.\n")
}

// TestBrowseMail opens messages of a mailbox and searches it.
func TestBrowseMail(t *testing.T) {
	s := peer.Dovecot(t, peer.DovecotOptions{})
	s.Add(peer.User, "INBOX", "From: a@b.example\r\nSubject: one\r\n\r\nfirst text\r\n")
	s.Add(peer.User, "INBOX", "From: a@b.example\r\nSubject: two\r\n\r\nsecond text\r\n")
	inbox := "imap://" + s.Addr + "/INBOX"
	login := peer.User + ":" + peer.Password
	out, messages := runBrowse(t, 0, "g 2\nb\n/second\ng 1\ni\nu\n", "--insecure-auth", "-u", login, inbox)
	contains(t, out, "  one\n", "  two\n", "second text\n")
	if strings.Count(out, "second text\n") != 2 || strings.Contains(out+messages, peer.Password) {
		t.Errorf("got %s, %s", out, messages)
	}
	// The policy sends no password in plaintext for a link.
	_, messages = runBrowse(t, 6, "2\n", "--insecure-auth", "-u", login, inbox)
	contains(t, messages, "password not sent in plaintext, because the user did not enter this URL")
}

// TestBrowseNews opens articles of a newsgroup.
func TestBrowseNews(t *testing.T) {
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}})
	s.Feed("Path: test\r\nFrom: a@b.example\r\nNewsgroups: local.test\r\nSubject: one\r\nMessage-ID: <one@test.example>\r\n" +
		"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n\r\nFrom the body\r\n")
	out, _ := runBrowse(t, 0, "1\nb\n", "nntp://"+s.Addr+"/local.test")
	contains(t, out, "  one", "From the body\n")
}

// TestBrowseLinks checks that the policy applies to the links of a page after a
// redirect, and that u stays on the server to which the redirect led.
func TestBrowseLinks(t *testing.T) {
	var requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/dir/page", http.StatusFound)
		case "/dir/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="file:///etc/passwd">file</a> <a href="telnet://127.0.0.1:2323/">telnet</a> <a href=other>other</a>`)
		default:
			fmt.Fprint(w, "text of "+r.URL.Path)
		}
	}))
	defer s.Close()
	out, messages := runBrowse(t, 9, "1\n2\n3\nb\nu\n", s.URL+"/start")
	contains(t, out, "file[1] telnet[2] other[3]\n", "text of /dir/other\n", "text of /dir/\n")
	if n := strings.Count(messages, "URLs of this scheme must come from the user"); n != 2 || strings.Contains(out, "root:") {
		t.Errorf("%d denied links: %s", n, messages)
	}
	if got := strings.Join(requests, ","); got != "GET /start ,GET /dir/page ,GET /dir/other ,GET /dir/ " {
		t.Errorf("got requests %q", got)
	}
	requests = nil
	runBrowse(t, 0, "3\nr\n", "-u", "me:secret", s.URL+"/dir/page")
	if got := strings.Join(requests, ","); !strings.HasPrefix(got, "GET /dir/page ") || len(requests) != 3 {
		t.Errorf("got requests %q", got)
	}
}

// TestBrowseSession opens a session from a pipe. The session uses the input that
// follows its command.
func TestBrowseSession(t *testing.T) {
	s := faultnet.Listen(t, faultnet.Script{faultnet.Send("name? "), faultnet.Expect("\n"),
		faultnet.Send("\x1b[2Jhello\r\n")})
	var out, stderr bytes.Buffer
	code := app.Run([]string{"--no-config", "browse"}, strings.NewReader("g telnet://"+s.Addr().String()+"\nada\n"), &out, &stderr)
	if code != 0 || !strings.Contains(out.String(), "name? ") || !strings.Contains(out.String(), "hello") {
		t.Errorf("exit code %d: %q, %s", code, &out, &stderr)
	}
}
