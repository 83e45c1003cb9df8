package download_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestWARCFile records objects of several schemes, and replays them without the
// servers.
func TestWARCFile(t *testing.T) {
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("hello.txt", []byte("hello ftp\n"))
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{})
	gopher.Put("hello.txt", []byte("hello gopher\n"))
	news := peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}})
	news.Feed("Path: test\r\nFrom: a@b.example\r\nNewsgroups: local.test\r\nSubject: one\r\nMessage-ID: <one@test.example>\r\n" +
		"Date: Fri, 20 Nov 2026 10:00:00 +0000\r\n\r\nhello news\r\n")
	name := filepath.Join(t.TempDir(), "all.warc.gz")
	urls := []string{
		"ftp://" + ftp.Addr + "/hello.txt", "ftp://" + ftp.Addr + "/", "gopher://" + gopher.Addr + "/0/hello.txt",
		"gopher://" + gopher.Addr + "/", "news://" + news.Addr + "/one@test.example",
	}
	live := commandtest.Run(t, 0, append([]string{"--warc-file", name}, urls...)...)
	commandtest.Contains(t, live, "hello ftp", "hello gopher", "hello news")
	commandtest.Run(t, 0, "-s", "verify", name)
	if replayed := commandtest.Run(t, 0, append([]string{"--archive", name}, urls...)...); replayed != live {
		t.Errorf("replayed %q, want %q", replayed, live)
	}
	list := commandtest.Run(t, 0, "ls", "--urls", name)
	if got := strings.Fields(list); len(got) != len(urls) {
		t.Errorf("got the URLs %q", got)
	}
	commandtest.Run(t, 8, "--warc-file", name, "ftp://"+ftp.Addr+"/none", "gopher://"+gopher.Addr+"/0/none")
	commandtest.Run(t, 0, "-s", "verify", name)
}

// TestWARCFileTruncated records a response that the server cut, and then the
// complete response to the next attempt.
func TestWARCFileTruncated(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for _, body := range []string{"hel", "hello"} {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 4<<10))
			c.Write([]byte("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 5\r\nConnection: close\r\n\r\n" + body))
			c.Close()
		}
	}()
	dir := t.TempDir()
	name, out := filepath.Join(dir, "a.warc"), filepath.Join(dir, "out")
	url := "http://" + l.Addr().String() + "/a"
	commandtest.Run(t, 0, "--retry", "1", "--retry-delay", "0", "--warc-file", name, "-o", out, url)
	if got, err := os.ReadFile(out); string(got) != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	text, err := os.ReadFile(name)
	if err != nil || strings.Count(string(text), "WARC-Truncated: disconnect") != 1 ||
		strings.Count(string(text), "WARC-Type: response") != 2 {
		t.Errorf("got the records %s, %v", text, err)
	}
	commandtest.Run(t, 0, "-s", "verify", name)
}

// TestWARCFileHTTP2 records an exchange with a server that speaks only HTTP/2.
func TestWARCFileHTTP2(t *testing.T) {
	s := peer.Nghttpd(t)
	s.Put("hello.txt", []byte("hello h2\n"))
	_, port, _ := net.SplitHostPort(s.TLSAddr)
	url, name := "https://localhost:"+port+"/hello.txt", filepath.Join(t.TempDir(), "a.warc")
	commandtest.Contains(t, commandtest.Run(t, 0, "-v", "--cacert", s.Cert.File, "--warc-file", name, url), "hello h2\n")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	commandtest.Contains(t, string(text), "WARC-Protocol: h2\r\n", "\r\n\r\nHTTP/1.1 200 OK\r\n", "\r\n\r\nGET /hello.txt HTTP/1.1\r\nhost: localhost:"+port+"\r\n")
	commandtest.Run(t, 0, "-s", "verify", name)
	commandtest.Contains(t, commandtest.Run(t, 0, "--archive", name, url), "hello h2\n")
}
