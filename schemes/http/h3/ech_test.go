package h3_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/h3"
	"github.com/anyurl/fetch/uri"
)

// loopback resolves every name to this machine.
type loopback struct{}

func (loopback) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// serveECH starts a QUIC server with keys for Encrypted Client Hello, whose
// responses are "hello". It returns its address, and a counter of the
// connections whose name was encrypted.
func serveECH(t *testing.T, cert *peer.Cert, keys ...tls.EncryptedClientHelloKey) (addr string, encrypted *atomic.Int32) {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{cert.TLS}, NextProtos: []string{"h3"}, EncryptedClientHelloKeys: keys}
	l, err := quic.ListenAddr("127.0.0.1:0", config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	encrypted = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			if c.ConnectionState().TLS.ECHAccepted {
				encrypted.Add(1)
			}
			go answerHello(c)
		}
	}()
	return l.Addr().String(), encrypted
}

// answerHello sends empty SETTINGS, and answers each request.
func answerHello(c *quic.Conn) {
	if control, err := c.OpenUniStream(); err == nil {
		control.Write([]byte{0, 4, 0})
	}
	for {
		s, err := c.AcceptStream(context.Background())
		if err != nil {
			return
		}
		io.Copy(io.Discard, s)
		s.Write([]byte("\x01\x03\x00\x00\xd9\x00\x06hello\n")) // HEADERS with the status 200, DATA
		s.Close()
	}
}

// TestECH checks Encrypted Client Hello in QUIC handshakes.
func TestECH(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"secret.test", "public.test"}})
	key, old := peer.NewECHKey(t, "public.test", 1), peer.NewECHKey(t, "public.test", 2)
	with, encrypted := serveECH(t, cert, key.EncryptedClientHelloKey)
	without, _ := serveECH(t, cert)
	for _, c := range []struct {
		name, addr string
		list       []byte
		failed     error // of Configs
		required   bool
		fault      fetch.Fault // 0 means that the request succeeds
		encrypted  int32
		note       string
	}{
		{"accepted", with, key.List, nil, false, 0, 1, ""},
		{"old key", with, old.List, nil, false, 0, 1, ""},
		{"old key, required", with, old.List, nil, true, 0, 1, ""},
		{"no key", with, nil, nil, false, 0, 0, ""},
		{"no key, required", with, nil, nil, true, fetch.TLS, 0, ""},
		{"no answer", with, nil, fetch.DNS, false, 0, 0, "the name secret.test is sent in plaintext"},
		{"no answer, required", with, nil, fetch.DNS, true, fetch.DNS, 0, ""},
		{"malformed", with, []byte("x"), nil, false, 0, 0, "the name secret.test is sent in plaintext"},
		{"malformed, required", with, []byte("x"), nil, true, fetch.TLS, 0, ""},
		{"too long", with, make([]byte, 9000), nil, true, fetch.TLS, 0, ""},
		{"disabled", without, key.List, nil, false, 0, 0, "secret.test has disabled encrypted client hello"},
		{"disabled, required", without, key.List, nil, true, fetch.TLS, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			encrypted.Store(0)
			configs := func(_ context.Context, host string, port uint16, endpoint string) ([]byte, error) {
				if host != "secret.test" || endpoint != "secret.test:"+c.addr[len("127.0.0.1:"):] || port == 0 {
					t.Errorf("the configuration of %s port %d at %s", host, port, endpoint)
				}
				return c.list, c.failed
			}
			o := http.Options{HTTP3: h3.New(h3.Options{Mode: h3.Only}), ECH: &http.ECH{Configs: configs, Required: c.required}}
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), Resolver: loopback{}, TLS: &tls.Config{RootCAs: cert.Pool}}, http.Schemes(o)...)
			defer client.Close()
			notes := ""
			req := &fetch.Request{URL: uri.MustParse("https://secret.test:" + c.addr[len("127.0.0.1:"):] + "/"),
				Trace: &trace.Trace{Note: func(text string) { notes += text }}}
			resp, err := client.Do(t.Context(), req)
			if !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("note %q, want %q", notes, c.note)
			}
			if (err != nil) != (c.fault != 0) || err != nil && fetch.FaultOf(err) != c.fault {
				t.Fatalf("got %v, want %v", err, c.fault)
			}
			if err == nil {
				defer resp.Body.Close()
				if b, err := io.ReadAll(resp.Body); string(b) != "hello\n" || err != nil {
					t.Errorf("got %q, %v", b, err)
				}
			}
			if n := encrypted.Load(); n != c.encrypted {
				t.Errorf("%d connections with an encrypted name, want %d", n, c.encrypted)
			}
		})
	}
}
