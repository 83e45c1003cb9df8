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
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// A script is a server in memory. For each connection, replies holds what it
// says to one request after another: when they end it closes.
type script struct {
	replies [][]string
	config  *tls.Config    // not nil: under TLS
	cut     bool           // TLS ends without close_notify
	frames  func(net.Conn) // not nil: serves instead, above TLS
	piece   int            // bytes of a reply at a time; 0: all

	mu       sync.Mutex
	requests []string // heads, as they came
	conns    int
	serving  sync.WaitGroup
}

func (s *script) dial(_ context.Context, _ string, _ netip.AddrPort) (net.Conn, error) {
	ours, theirs, err := s.pair()
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
	s.serving.Go(func() { s.serve(theirs, replies) })
	return ours, nil
}

// pair is in memory but under TLS, where both sides may write at once.
func (s *script) pair() (ours, theirs net.Conn, err error) {
	if s.config == nil {
		ours, theirs = net.Pipe()
		return ours, theirs, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if ours, err = net.Dial("tcp", l.Addr().String()); err == nil {
		theirs, err = l.Accept()
	}
	return ours, theirs, err
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
			if s.piece > 0 {
				n = min(n, s.piece)
			}
			if _, err := io.WriteString(conn, reply[:n]); err != nil {
				return
			}
			reply = reply[n:]
		}
	}
	if s.config != nil && !s.cut {
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

// dialled is how many connections there were.
func (s *script) dialled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// heads returns the requests that came, once the server has ended.
func (s *script) heads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// resolver gives every name the same address.
type resolver struct{}

func (resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// open makes a client that talks to s.
func (s *script) open(t testing.TB, opts http.Options, change ...func(*fetch.Options)) *fetch.Client {
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

// notes collects what a trace was told, and the bytes of its last attempt.
type notes struct {
	mu        sync.Mutex
	text      []string
	sent, got bytes.Buffer
	again     int
}

func (n *notes) trace() *fetch.Trace {
	lock := func(f func()) {
		n.mu.Lock()
		defer n.mu.Unlock()
		f()
	}
	return &fetch.Trace{
		Sent:     func(p []byte) { lock(func() { n.sent.Write(p) }) },
		Received: func(p []byte) { lock(func() { n.got.Write(p) }) },
		Restart:  func() { lock(func() { n.sent.Reset(); n.got.Reset(); n.again++ }) },
		Note:     func(s string) { lock(func() { n.text = append(n.text, s) }) },
	}
}

func (n *notes) noted(part string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Contains(strings.Join(n.text, "\n"), part)
}

// get reads a whole object.
func get(t testing.TB, client *fetch.Client, req *fetch.Request) (*fetch.Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := client.Do(ctx, req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func wireRequest(url string) *fetch.Request { return &fetch.Request{URL: uri.MustParse(url)} }

// fields makes a header of names and values in turn.
func fields(pairs ...string) (h fetch.Header) {
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, fetch.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
