package postgres

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// message returns a message of the protocol of PostgreSQL.
func message(kind byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))) + body
}

// welcome is the reply to a login.
var welcome = message('R', "\x00\x00\x00\x00") + message('K', "\x00\x00\x00\x01\x00\x00\x00\x02") + message('Z', "I")

// hostileServer accepts connections without TLS. It sends the login reply, reads
// a request and then sends text until the client closes the connection. It counts
// the bytes of each connection: a slow machine reaches the time limit of the
// login, and Open tries again.
type hostileServer struct {
	addr  string
	login string // reply to the login
	text  string // sent endlessly, or ""

	mu   sync.Mutex
	sent int64  // maximum for one connection
	seen []byte // bytes of the clients
}

func newHostileServer(t *testing.T, login, text string) *hostileServer {
	t.Helper()
	s := &hostileServer{login: login, text: text}
	s.addr = faultnet.ServeTCP(t, s.serve)
	return s
}

// read reads a message of the client with the header size n.
func (s *hostileServer) read(conn net.Conn, n int) error {
	head := make([]byte, n)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[n-4:])-4)
	_, err := io.ReadFull(conn, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(append(s.seen, head...), body...)
	return err
}

func (s *hostileServer) serve(conn net.Conn) {
	if s.read(conn, 4) != nil { // SSLRequest, or the login
		return
	}
	s.mu.Lock()
	tls := strings.HasSuffix(string(s.seen), "\x04\xd2\x16\x2f")
	s.mu.Unlock()
	if tls {
		io.WriteString(conn, "N")
		if s.read(conn, 4) != nil {
			return
		}
	}
	if io.WriteString(conn, s.login); s.read(conn, 5) != nil {
		return
	}
	text := strings.Repeat(s.text, 1+(64<<10)/max(len(s.text), 1))
	for sent := int64(0); s.text != ""; {
		n, err := io.WriteString(conn, text)
		sent += int64(n)
		s.mu.Lock()
		s.sent = max(s.sent, sent)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// TestHostileServer checks that Open of a hostile server fails after a bounded
// number of bytes, with a short error.
func TestHostileServer(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large replies")
	}
	const mebibyte = 1 << 20
	failure := message('E', "SFATAL\x00VFATAL\x00CXX000\x00M"+strings.Repeat("x", 50*mebibyte)+"\x00\x00")
	row := message('D', "\x00\x01\x00\x00\x00\x01x")
	column := message('T', "\x00\x01c\x00"+strings.Repeat("\x00", 9)+"\x19\xff\xff\xff\xff\xff\xff\x00\x00")
	// The reply to the first statement, which has two arguments of the type text[].
	prepared := message('1', "") + message('t', "\x00\x02\x00\x00\x03\xf1\x00\x00\x03\xf1") + column + message('Z', "I")
	ready := welcome + prepared + message('2', "") + message('C', "SELECT 1\x00") + message('Z', "I")
	for _, test := range []struct {
		name, login, text string
		sent              int64 // maximum number of bytes
	}{
		{"endless notifications", welcome, message('A', "\x00\x00\x00\x01"+strings.Repeat("c", 1000)+"\x00x\x00"), 24 * mebibyte},
		{"endless small notifications", welcome, message('A', "\x00\x00\x00\x01c\x00\x00"), 24 * mebibyte},
		{"endless parameters", welcome, message('S', "name"+strings.Repeat("n", 1000)+"\x00x\x00"), 24 * mebibyte},
		{"endless notices", welcome, message('N', "SNOTICE\x00Mx\x00\x00"), 24 * mebibyte},
		{"endless parameters in the login", strings.Repeat(message('S', "name\x00x\x00"), 100_000), "", 0},
		{"endless rows", welcome, row, 90 * mebibyte},
		{"endless rows and ends of replies", welcome + prepared + message('2', ""), strings.Repeat(row, 1000) + message('Z', "I"), 24 * mebibyte},
		{"endless ends of a reply", ready, column + message('Z', "T"), 24 * mebibyte},
		{"endless results", ready, column + message('C', "BEGIN\x00"), 90 * mebibyte},
		{"endless length", welcome, "D\x7f\xff\xff\xff" + strings.Repeat("x", mebibyte), 24 * mebibyte},
		{"negative length", welcome, "D\xff\xff\xff\xff", 24 * mebibyte},
		{"large error", welcome, failure, 60 * mebibyte},
		{"large error in the login", failure, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newHostileServer(t, test.login, test.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := New(fmt.Sprintf("postgres://u@%s/d?search_path=x", s.addr)).Join(t.Context(), &frontier.Worker{})
			runtime.ReadMemStats(&after)
			if err == nil {
				f.Close()
				t.Fatal("Open succeeded")
			}
			if len(err.Error()) > 2000 {
				t.Errorf("an error with %d bytes: %.200s", len(err.Error()), err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.sent > test.sent {
				t.Errorf("the client read %d bytes, want at most %d", s.sent, test.sent)
			}
			t.Logf("%d bytes allocated, %d sent: %v", after.TotalAlloc-before.TotalAlloc, s.sent, err)
		})
	}
}

// TestPlaintext checks which connection attempts the URL of a database permits.
// A server on another machine gets no login without TLS, unless the URL says so.
func TestPlaintext(t *testing.T) {
	for _, test := range []struct {
		url, want string // attempts, as HOST or HOST+tls
	}{
		{"postgres://u:p@db.example/d", "db.example+tls"},
		{"postgres://u:p@db.example/d?sslmode=prefer", "db.example+tls"},
		{"postgres://u:p@db.example/d?sslmode=allow", "db.example+tls"},
		{"postgres://u:p@db.example/d?sslmode=require", "db.example+tls"},
		{"postgres://u:p@db.example/d?sslmode=disable", "db.example"},
		{"postgres://u:p@192.0.2.1/d", "192.0.2.1+tls"},
		{"postgres://u:p@127.0.0.1/d", "127.0.0.1+tls 127.0.0.1"},
		{"postgres://u:p@[::1]/d", "::1+tls ::1"},
		{"postgres://u:p@localhost/d", "localhost+tls localhost"},
		{"postgres://u:p@localhost.example/d", "localhost.example+tls"},
		{"postgres://u:p@a.example,b.example/d", "a.example+tls b.example+tls"},
		{"postgres://u:p@127.0.0.1,b.example/d", "127.0.0.1+tls 127.0.0.1 b.example+tls"},
		{"postgres:///d?host=/run/postgresql", "/run/postgresql"},
		{"postgres:///d?host=/run/postgresql,b.example", "/run/postgresql b.example+tls"},
		{"host=db.example sslmode=allow user=u", "db.example+tls"},
	} {
		config, err := pgxpool.ParseConfig(test.url)
		if err != nil {
			t.Fatal(err)
		}
		c := &config.ConnConfig.Config
		requireTLS(c)
		var got []string
		for _, a := range append([]*pgconn.FallbackConfig{{Host: c.Host, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
			if a.TLSConfig != nil {
				a.Host += "+tls"
			}
			got = append(got, a.Host)
		}
		if attempts := strings.Join(got, " "); attempts != test.want {
			t.Errorf("%s: attempts %q, want %q", test.url, attempts, test.want)
		}
	}
}

// TestPasswordWithoutTLS checks that a server on another machine without TLS gets
// no password. A fake resolver and a fake network lead to loopback.
func TestPasswordWithoutTLS(t *testing.T) {
	s := newHostileServer(t, message('R', "\x00\x00\x00\x03"), "")
	for _, mode := range []string{"", "&sslmode=prefer", "&sslmode=allow", "&sslmode=disable"} {
		e := &engine{}
		config, _, err := e.configure("postgres://u:secret@db.example/d?search_path=x" + mode)
		if err != nil {
			t.Fatal(err)
		}
		c := config.ConnConfig
		c.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil }
		c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			if netip.MustParseAddrPort(address).Addr() != netip.MustParseAddr("192.0.2.1") {
				return nil, errors.New("unexpected address " + address)
			}
			return net.Dial(network, s.addr)
		}
		if _, err = pgconn.ConnectConfig(t.Context(), &c.Config); err == nil {
			t.Errorf("%s: the connection succeeded", mode)
		}
		s.mu.Lock()
		if leaked := strings.Contains(string(s.seen), "secret"); leaked != (mode == "&sslmode=disable") {
			t.Errorf("%q: the server got the password: %v", mode, leaked)
		}
		s.mu.Unlock()
	}
}

// TestChannelBinding checks that a login with SCRAM is bound to the TLS connection
// if the server supports this. A person in the middle, whose certificate is
// accepted because only sslmode=verify-full verifies it, could otherwise pass on the
// login.
func TestChannelBinding(t *testing.T) {
	cert := httptest.NewTLSServer(nil)
	t.Cleanup(cert.Close)
	for _, test := range []struct{ parameters, offered, want string }{
		{"", "SCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00", "SCRAM-SHA-256-PLUS p=tls-server-end-point"},
		{"", "SCRAM-SHA-256\x00", "SCRAM-SHA-256 y"},
		{"&channel_binding=require", "SCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00", "SCRAM-SHA-256-PLUS p=tls-server-end-point"},
		{"&channel_binding=require", "SCRAM-SHA-256\x00", ""},
		{"&channel_binding=disable", "SCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00", "SCRAM-SHA-256 n"},
	} {
		s := &hostileServer{}
		got := make(chan string, 10)
		s.addr = faultnet.ServeTCP(t, func(conn net.Conn) {
			if s.read(conn, 4) != nil { // SSLRequest
				return
			}
			io.WriteString(conn, "S")
			secure := tls.Server(conn, cert.TLS)
			if s.read(secure, 4) != nil {
				return
			}
			io.WriteString(secure, message('R', "\x00\x00\x00\x0a"+test.offered+"\x00"))
			head := make([]byte, 5)
			io.ReadFull(secure, head)
			body := make([]byte, max(binary.BigEndian.Uint32(head[1:]), 4)-4)
			io.ReadFull(secure, body)
			mechanism, first, _ := strings.Cut(string(body), "\x00")
			binding, _, _ := strings.Cut(first[min(4, len(first)):], ",")
			got <- strings.TrimSpace(mechanism + " " + binding)
		})
		e := &engine{}
		config, _, err := e.configure("postgres://u:secret@" + s.addr + "/d?search_path=x&sslmode=require&connect_timeout=20" + test.parameters)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.BeforeConnect(t.Context(), config.ConnConfig); err != nil {
			t.Fatal(err)
		}
		if _, err := pgx.ConnectConfig(t.Context(), config.ConnConfig); err == nil {
			t.Errorf("%s: the connection succeeded", test.parameters)
		}
		if first := <-got; first != test.want {
			t.Errorf("%q, %q: got %q, want %q", test.parameters, test.offered, first, test.want)
		}
	}
}
