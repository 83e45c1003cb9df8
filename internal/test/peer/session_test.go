package peer_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// readUntil reads from a session until the text want has arrived.
func readUntil(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	b := make([]byte, 1)
	for !strings.Contains(got.String(), want) {
		if _, err := conn.Read(b); err != nil {
			t.Fatalf("got %q, want %q in it: %v", got.String(), want, err)
		}
		got.Write(b)
	}
}

func TestTelnetd(t *testing.T) {
	t.Parallel()
	s := peer.Telnetd(t, peer.TelnetdOptions{})
	conn := dial(t, s.Addr)
	if _, err := io.WriteString(conn, "hello\r\n"); err != nil {
		t.Fatal(err)
	}
	readUntil(t, refuser{conn}, "you said hello")
}

// A refuser rejects every telnet option and returns only the text.
type refuser struct{ net.Conn }

func (r refuser) Read(b []byte) (int, error) {
	for {
		n, err := r.Conn.Read(b[:1])
		if err != nil || n == 0 || b[0] != 0xff { // IAC
			return n, err
		}
		var command [2]byte
		if _, err := io.ReadFull(r.Conn, command[:]); err != nil {
			return 0, err
		}
		answer := byte(0xfe) // DONT, to WILL
		if command[0] == 0xfd {
			answer = 0xfc // WONT, to DO
		}
		if _, err := r.Conn.Write([]byte{0xff, answer, command[1]}); err != nil {
			return 0, err
		}
	}
}

func TestRlogind(t *testing.T) {
	t.Parallel()
	s := peer.Rlogind(t)
	var conn net.Conn
	var err error
	for port := 1023; port > 900 && conn == nil; port-- {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, Timeout: 5 * time.Second}
		conn, err = d.Dial("tcp", s.Addr)
	}
	if conn == nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "\x00%s\x00%s\x00dumb/9600\x00", peer.User, peer.User); err != nil {
		t.Fatal(err)
	}
	readUntil(t, conn, "assword: ")
	if _, err := fmt.Fprintf(conn, "%s\r", peer.Password); err != nil {
		t.Fatal(err)
	}
	readUntil(t, conn, "$ ")
	if _, err := io.WriteString(conn, "echo $((6*7)) $HOME\r"); err != nil {
		t.Fatal(err)
	}
	readUntil(t, conn, "42 "+s.Home)
}

func TestInetutilsFTPd(t *testing.T) {
	t.Parallel()
	s := peer.InetutilsFTPd(t, peer.FTPOptions{})
	s.PutHome("mine.txt", []byte("mine\n"))
	if got := curl(t, "--user", peer.User+":"+peer.Password, "ftp://"+s.Addr+"/mine.txt"); got != "mine\n" {
		t.Errorf("got %q", got)
	}
	if got := talk(t, dial(t, s.Addr), "FEAT"); !strings.HasPrefix(got[1], "530 ") {
		t.Errorf("FEAT before the login: %q, want 530", got)
	}
}
