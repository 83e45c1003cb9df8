package main

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestFTPAccount checks that the account of --ftp-account is sent to the server
// of the URL, and not to one to which another server redirects.
func TestFTPAccount(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	sent := ""
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.Write([]byte("220 hello\r\n"))
				for lines := bufio.NewScanner(c); lines.Scan(); {
					reply := "502 unknown"
					switch command, argument, _ := strings.Cut(lines.Text(), " "); command {
					case "USER":
						reply = "331 password"
					case "PASS":
						reply = "332 account"
					case "ACCT":
						mu.Lock()
						sent = argument
						mu.Unlock()
						reply = "530 denied"
					}
					c.Write([]byte(reply + "\r\n"))
				}
			}()
		}
	}()
	url := "ftp://" + l.Addr().String() + "/file"
	s := httptest.NewServer(http.RedirectHandler(url, http.StatusFound))
	defer s.Close()
	for given, want := range map[string]string{s.URL: "", url: "4711"} {
		mu.Lock()
		sent = ""
		mu.Unlock()
		runFetchStderr(t, 6, "--ftp-account", "4711", given)
		mu.Lock()
		if sent != want {
			t.Errorf("%s: account %q, want %q", given, sent, want)
		}
		mu.Unlock()
	}
}
