package http_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// A script is a server in memory. replies has the responses for each
// connection. The server closes a connection after the last response.
type script struct {
	replies   [][]string
	config    *tls.Config    // TLS configuration, or nil for plaintext
	cutTLS    bool           // end TLS connections without close_notify
	frames    func(net.Conn) // if not nil, serves TLS connections in place of replies
	pieceSize int            // bytes per write, or zero for no limit

	mu       sync.Mutex
	requests []string // request heads in the order of arrival
	conns    int
	serving  sync.WaitGroup
}

func (s *script) dial(_ context.Context, _ string, _ netip.AddrPort) (net.Conn, error) {
	clientConn, serverConn, err := s.tlsPair()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var replies []string
	if s.conns < len(s.replies) {
		replies = s.replies[s.conns]
	}
	s.conns++
	s.serving.Go(func() { s.serve(serverConn, replies) })
	return clientConn, nil
}

// tlsPair returns the two ends of a TCP connection on loopback for TLS, because
// both sides of a TLS connection may write at the same time.
func (s *script) tlsPair() (clientConn, serverConn net.Conn, err error) {
	if s.config == nil {
		clientConn, serverConn = net.Pipe()
		return clientConn, serverConn, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if clientConn, err = net.Dial("tcp", l.Addr().String()); err == nil {
		serverConn, err = l.Accept()
	}
	return clientConn, serverConn, err
}

func (s *script) serve(raw net.Conn, replies []string) {
	defer raw.Close()
	conn := raw
	if s.config != nil {
		conn = tls.Server(raw, s.config)
	}
	if s.frames != nil {
		s.frames(conn)
		return
	}
	r := bufio.NewReader(conn)
	for _, reply := range replies {
		head, err := readHead(r)
		s.mu.Lock()
		if head != "" {
			s.requests = append(s.requests, head)
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
		for len(reply) > 0 {
			n := len(reply)
			if s.pieceSize > 0 {
				n = min(n, s.pieceSize)
			}
			if _, err := io.WriteString(conn, reply[:n]); err != nil {
				return
			}
			reply = reply[n:]
		}
	}
	if s.config != nil && !s.cutTLS {
		conn.(*tls.Conn).CloseWrite()
	}
}

func readHead(r *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := r.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String(), err
		}
	}
}

// connCount returns the number of connections.
func (s *script) connCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// heads waits for the server to end and returns the request heads.
func (s *script) heads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// A resolver returns the same address for every name.
type resolver struct{}

func (resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newClient returns a client whose connections lead to s.
func (s *script) newClient(t testing.TB, opts http.Options, change ...func(*fetch.Options)) *fetch.Client {
	o := fetch.Options{
		Policy:   fetch.Typed(),
		Dial:     s.dial,
		Resolver: resolver{},
		Now:      func() time.Time { return now },
	}
	for _, f := range change {
		f(&o)
	}
	client := fetch.New(o, http.Schemes(opts)...)
	t.Cleanup(func() {
		client.Close()
		s.serving.Wait()
	})
	return client
}

// notes collects the notes of a trace and the bytes of its last attempt.
type notes struct {
	mu        sync.Mutex
	text      []string
	sent, got bytes.Buffer
	restarts  int
}

func (n *notes) trace() *trace.Trace {
	lock := func(f func()) {
		n.mu.Lock()
		defer n.mu.Unlock()
		f()
	}
	return &trace.Trace{
		Sent:     func(p []byte) { lock(func() { n.sent.Write(p) }) },
		Received: func(p []byte) { lock(func() { n.got.Write(p) }) },
		Restart:  func() { lock(func() { n.sent.Reset(); n.got.Reset(); n.restarts++ }) },
		Note:     func(s string) { lock(func() { n.text = append(n.text, s) }) },
	}
}

func (n *notes) hasNote(part string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Contains(strings.Join(n.text, "\n"), part)
}

// get requests an object and returns its response and body.
func get(t testing.TB, client *fetch.Client, req *fetch.Request) (*fetch.Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	resp, err := client.Do(ctx, req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func newRequest(url string) *fetch.Request { return &fetch.Request{URL: uri.MustParse(url)} }

// fields returns a header from alternating names and values.
func fields(pairs ...string) (h fetch.Header) {
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, fetch.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
