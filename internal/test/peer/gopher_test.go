package peer_test

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// getItem sends one gopher request and returns the complete reply.
func getItem(t *testing.T, conn net.Conn, request string) string {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return string(reply)
}

func TestGophernicus(t *testing.T) {
	t.Parallel()
	s := peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{"-nh", "-nd"}})
	s.Put("sub/motd.txt", []byte("hello\n"))
	search := s.Put("cgi-bin/search", []byte("#!/bin/sh\necho \"found $SEARCHREQUEST\"\n"))
	if err := os.Chmod(search, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := getItem(t, dial(t, s.Addr), "/sub\r\n"), "0motd.txt\t/sub/motd.txt\t127.0.0.1\t"+portOf(s.Addr)+"\r\n"; !strings.Contains(got, want) {
		t.Errorf("menu %q, want %q in it", got, want)
	}
	if got, want := getItem(t, dial(t, s.Addr), "/cgi-bin/search\tblue moon\r\n"), "found blue moon\n"; !strings.HasPrefix(got, want) {
		t.Errorf("search %q, want %q", got, want)
	}
	if got, want := curl(t, "gopher://"+s.Addr+"/0/sub/motd.txt"), "hello\r\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestPygopherd(t *testing.T) {
	t.Parallel()
	s := peer.Pygopherd(t, peer.PygopherdOptions{TLS: true})
	s.Put("sub/motd.txt", []byte("hello\n"))
	s.Put("sub/motd.txt.abstract", []byte("a greeting\n"))
	menu := "0motd\t/sub/motd.txt\t127.0.0.1\t" + portOf(s.Addr) + "\t+\r\n"
	if got := getItem(t, dial(t, s.Addr), "/sub\r\n"); !strings.Contains(got, menu) {
		t.Errorf("menu %q, want %q in it", got, menu)
	}
	if got := getItem(t, dial(t, s.Addr), "/sub/motd.txt\t!\r\n"); !strings.HasPrefix(got, "+-2\r\n+INFO: 0motd") || !strings.Contains(got, "+ABSTRACT:\r\n a greeting\r\n") {
		t.Errorf("Gopher+ attributes: %q", got)
	}
	secure := tls.Client(dial(t, s.TLSAddr), &tls.Config{RootCAs: s.Cert.Pool, ServerName: "localhost"})
	if got := getItem(t, secure, "/sub\r\n"); !strings.Contains(got, menu) {
		t.Errorf("menu over TLS %q, want %q in it", got, menu)
	}
}
