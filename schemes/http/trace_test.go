package http_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// withTLS makes s accept TLS connections and returns the change of the client
// options.
func (s *script) withTLS(t *testing.T, protocols ...string) (change func(*fetch.Options)) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"h"}})
	s.config = &tls.Config{Certificates: []tls.Certificate{cert.TLS}, NextProtos: protocols}
	return func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: cert.Pool} }
}

// TestTrace checks that the trace receives the exact bytes of each exchange,
// with and without TLS.
func TestTrace(t *testing.T) {
	replies := []string{
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200\nContent-Length: 5\n\nhello",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\nhello",
	}
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			s := &script{replies: [][]string{replies}}
			trust := func(*fetch.Options) {}
			if scheme == "https" {
				trust = s.withTLS(t, "h2", "http/1.1")
			}
			client := s.newClient(t, http.Options{}, trust)
			for i, reply := range replies {
				var n notes
				req := newRequest(scheme + "://h/")
				req.Trace = n.trace()
				resp, body, err := get(t, client, req)
				if err != nil || body != "hello" && i != 3 || n.restarts != 0 {
					t.Fatalf("request %d: got %q, %v, restarts %d", i, body, err, n.restarts)
				}
				if got := n.got.String(); got != reply || !strings.HasPrefix(reply, string(resp.Head)) {
					t.Errorf("request %d: trace %q, head %q, want %q", i, got, resp.Head, reply)
				}
				if got, want := n.sent.String(), s.heads()[i]; got != want {
					t.Errorf("request %d: trace %q, sent %q", i, got, want)
				}
			}
			if s.conns != 1 {
				t.Errorf("%d connections, want 1", s.conns)
			}
		})
	}
}

// TestTraceRestart checks that a request on a stale pooled connection is
// repeated, and that the trace reports the restart.
func TestTraceRestart(t *testing.T) {
	s := &script{replies: [][]string{{ok, ""}, {ok}}}
	client := s.newClient(t, http.Options{})
	for i := range 2 {
		var n notes
		req := newRequest("http://h/")
		req.Trace = n.trace()
		_, body, err := get(t, client, req)
		if body != "hello" || err != nil || n.restarts != i || n.got.String() != ok || n.sent.String() != s.heads()[0] {
			t.Errorf("request %d: got %q, %v, restarts %d, trace %q, traced request %q", i, body, err, n.restarts, n.got.String(), n.sent.String())
		}
	}
}

func TestTLS(t *testing.T) {
	const open = "HTTP/1.1 200 OK\r\n\r\nhello"
	for _, test := range []struct {
		name, reply string
		cut         bool
		want        fetch.Fault
	}{
		{"known length, closed without close_notify", ok, true, 0},
		{"no length", open, false, 0},
		{"no length, closed without close_notify", open, true, fetch.Truncated},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{test.reply}}, cutTLS: test.cut}
			_, body, err := get(t, s.newClient(t, http.Options{}, s.withTLS(t)), newRequest("https://h/"))
			if body != "hello" || !errors.Is(err, test.want) && (err != nil || test.want != 0) {
				t.Errorf("got %q, %v, want %v", body, err, test.want)
			}
		})
	}
}

func TestTLSFaults(t *testing.T) {
	for _, test := range []struct {
		name   string
		url    string
		change func(*script, *fetch.Options)
		want   fetch.Fault
	}{
		{"unknown authority", "https://h/", func(_ *script, o *fetch.Options) { o.TLS = nil }, fetch.TLS},
		{"certificate for another name", "https://other/", func(*script, *fetch.Options) {}, fetch.TLS},
		{"no common version", "https://h/", func(s *script, _ *fetch.Options) { s.config.MaxVersion = tls.VersionTLS11 }, fetch.TLS},
		{"client certificate required", "https://h/", func(s *script, _ *fetch.Options) {
			s.config.ClientAuth, s.config.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
		}, fetch.TLS},
		{"closed in the handshake", "https://h/", func(s *script, _ *fetch.Options) {
			s.config = nil
			s.replies = nil
		}, fetch.Connect},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok}}}
			trust := s.withTLS(t)
			client := s.newClient(t, http.Options{}, trust, func(o *fetch.Options) { test.change(s, o) })
			if _, _, err := get(t, client, newRequest(test.url)); !errors.Is(err, test.want) {
				t.Errorf("got %v (%v), want %v", err, fetch.FaultOf(err), test.want)
			}
		})
	}
}

// TestPoolByKey checks that requests with different policies do not share
// connections to the same host.
func TestPoolByKey(t *testing.T) {
	s := &script{replies: [][]string{{ok, ok}, {ok, ok}}}
	client := s.newClient(t, http.Options{}, func(o *fetch.Options) { o.Policy.Downgrade = true })
	for i := range 4 {
		req := newRequest("http://8.8.8.8/")
		if i%2 == 1 {
			req.From = &fetch.Source{URL: newRequest("http://9.9.9.9/").URL}
		}
		if _, body, err := get(t, client, req); body != "hello" || err != nil {
			t.Errorf("request %d: got %q, %v", i, body, err)
		}
	}
	if s.conns != 2 {
		t.Errorf("%d connections, want 2", s.conns)
	}
}

// TestSecured checks that each new TLS connection is reported once, even if the
// server selects HTTP/1.1.
func TestSecured(t *testing.T) {
	for _, protocols := range [][]string{{"h2", "http/1.1"}, {"http/1.1"}, nil} {
		server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, "hello") }))
		server.EnableHTTP2 = len(protocols) == 2
		server.TLS = &tls.Config{NextProtos: protocols}
		server.StartTLS()
		pool := x509.NewCertPool()
		pool.AddCert(server.Certificate())
		client := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: pool}}, http.Schemes(http.Options{})...)
		for i, want := range []string{"[connected secured request sent first byte]", "[request sent first byte]"} {
			var got []trace.Phase
			req := newRequest(server.URL + "/")
			req.Trace = &trace.Trace{Phase: func(p trace.Phase, _ net.Conn) {
				if p != trace.Resolved {
					got = append(got, p)
				}
			}}
			resp, err := client.Do(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if sprintf("%v", got) != want {
				t.Errorf("%v, request %d: got %v, want %s", protocols, i, got, want)
			}
		}
		client.Close()
		server.Close()
	}
}
