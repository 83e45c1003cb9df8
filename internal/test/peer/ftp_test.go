package peer_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestFTP(t *testing.T) {
	for _, server := range []struct {
		name     string
		start    func(peer.TB, peer.FTPOptions) *peer.Server
		greeting string
		implicit bool
		mlsd     bool
	}{
		{"vsftpd", peer.Vsftpd, "220 (vsFTPd", true, false},
		{"proftpd", peer.Proftpd, "220 ProFTPD", true, true},
		{"pure-ftpd", peer.PureFTPd, "220---------- Welcome to Pure-FTPd", false, true},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			s := server.start(t, peer.FTPOptions{TLS: true})
			testFTP(t, s)
			if got := talk(t, dial(t, s.Addr))[0]; !strings.HasPrefix(got, server.greeting) {
				t.Errorf("greeting %q, want %q", got, server.greeting)
			}
			out, err := tryCurl(t, "--user", "anonymous:x", "-X", "MLSD", "ftp://"+s.Addr+"/")
			if mlsd := err == nil && strings.Contains(out, "type=dir;"); mlsd != server.mlsd {
				t.Errorf("MLSD: %q, %v", out, err)
			}
		})
		t.Run(server.name+" throttled", func(t *testing.T) {
			t.Parallel()
			s := server.start(t, peer.FTPOptions{Rate: 64})
			s.Put("big", bytes.Repeat([]byte("x"), 192<<10))
			began := time.Now()
			out := curl(t, "ftp://"+s.Addr+"/big")
			if took := time.Since(began); len(out) != 192<<10 || took < 500*time.Millisecond {
				t.Errorf("%d bytes in %v, want 196608 in a second at least", len(out), took)
			}
		})
		if !server.implicit {
			continue
		}
		t.Run(server.name+" implicit TLS", func(t *testing.T) {
			t.Parallel()
			s := server.start(t, peer.FTPOptions{Implicit: true})
			s.Put("motd.txt", []byte("hello\n"))
			out := curl(t, "--cacert", s.Cert.File, "ftps://localhost:"+portOf(s.TLSAddr)+"/motd.txt")
			if out != "hello\n" {
				t.Errorf("got %q", out)
			}
		})
	}
}

func testFTP(t *testing.T, s *peer.Server) {
	t.Helper()
	s.Put("sub/motd.txt", []byte("hello\n"))
	s.PutHome("mine.txt", []byte("mine\n"))
	login := peer.User + ":" + peer.Password
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"anonymous", "hello\n", []string{"ftp://" + s.Addr + "/sub/motd.txt"}},
		{"active mode", "hello\n", []string{"--ftp-port", "127.0.0.1", "ftp://" + s.Addr + "/sub/motd.txt"}},
		{"listing", "motd.txt\n", []string{"-l", "ftp://" + s.Addr + "/sub/"}},
		{"account", "mine\n", []string{"--user", login, "ftp://" + s.Addr + "/mine.txt"}},
		{"absolute path", "mine\n", []string{"--user", login, "ftp://" + s.Addr + "/%2F" + s.Home[1:] + "/mine.txt"}},
		{"AUTH TLS", "mine\n", []string{"--user", login, "--ssl-reqd", "--cacert", s.Cert.File, "ftp://localhost:" + portOf(s.Addr) + "/mine.txt"}},
	} {
		if got := curl(t, test.args...); !strings.HasSuffix(strings.ReplaceAll(got, "\r", ""), test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if out, err := tryCurl(t, "--user", peer.User+":wrong", "ftp://"+s.Addr+"/mine.txt"); err == nil {
		t.Errorf("wrong password: got %q", out)
	}
}
