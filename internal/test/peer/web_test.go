package peer_test

import (
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestApache(t *testing.T) {
	t.Parallel()
	s := peer.Apache(t, peer.ApacheOptions{HTTP2: true, Config: []string{"Header set X-Test yes"}})
	s.Put("sub/motd.txt", []byte("hello\n"))
	s.Put("teapot.asis", []byte("Status: 418 I'm a teapot\nX-Odd: 1\n\nshort and stout\n"))
	script := s.Put("env.cgi", []byte("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\necho \"$QUERY_STRING\"\n"))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"plain", "\r\n\r\nhello\n", []string{"-i", "http://" + s.Addr + "/sub/motd.txt"}},
		{"further directive", "X-Test: yes\r\n", []string{"-i", "http://" + s.Addr + "/sub/motd.txt"}},
		{"tls and http2", "hello\n2", []string{"--http2", "--cacert", s.Cert.File, "-w", "%{http_version}", "https://localhost:" + portOf(s.TLSAddr) + "/sub/motd.txt"}},
		{"directory", `<a href="motd.txt">`, []string{"http://" + s.Addr + "/sub/"}},
		{"as is", "418 I'm a teapot\r\n", []string{"-i", "http://" + s.Addr + "/teapot.asis"}},
		{"script", "a=b\n", []string{"http://" + s.Addr + "/env.cgi?a=b"}},
	} {
		if got := curl(t, test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q in it", test.name, got, test.want)
		}
	}
}

func TestApacheLogin(t *testing.T) {
	for _, login := range []string{"Basic", "Digest"} {
		t.Run(login, func(t *testing.T) {
			t.Parallel()
			s := peer.Apache(t, peer.ApacheOptions{Login: login})
			s.Put("motd.txt", []byte("hello\n"))
			url := "http://" + s.Addr + "/motd.txt"
			if got := curl(t, "-o", os.DevNull, "-i", "-w", "%header{www-authenticate}", url); !strings.HasPrefix(got, login+" ") {
				t.Errorf("challenge %q, want %s", got, login)
			}
			if got := curl(t, "--"+strings.ToLower(login), "-u", peer.User+":"+peer.Password, url); got != "hello\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestLighttpd(t *testing.T) {
	t.Parallel()
	s := peer.Lighttpd(t, peer.LighttpdOptions{Config: []string{`server.tag = "odd"`}})
	s.Put("sub/motd.txt", []byte("hello\n"))
	if got := curl(t, "-i", "http://"+s.Addr+"/sub/motd.txt"); !strings.HasSuffix(got, "\r\n\r\nhello\n") || !strings.Contains(got, "Server: odd\r\n") {
		t.Errorf("got %q", got)
	}
	if got, want := curl(t, "http://"+s.Addr+"/sub/"), `<a href="motd.txt">`; !strings.Contains(got, want) {
		t.Errorf("listing %q, want %q in it", got, want)
	}
}

func TestNghttpd(t *testing.T) {
	t.Parallel()
	s := peer.Nghttpd(t)
	s.Put("sub/motd.txt", []byte("hello\n"))
	got := curl(t, "--http2", "--cacert", s.Cert.File, "-w", "%{http_version}", "https://localhost:"+portOf(s.TLSAddr)+"/sub/motd.txt")
	if got != "hello\n2" {
		t.Errorf("got %q", got)
	}
}
