package fetch_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// oldHello is a ServerHello of TLS 1.0. Crypto/tls rejects it with an error
// that has no type.
var oldHello = faultnet.Send("\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01" + strings.Repeat("r", 32) + "\x00\x00\x2f\x00")

// TestHandshake checks the class of each failure, over a direct connection and
// with an https proxy.
func TestHandshake(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1", "h.test")
	broken := errors.New("broken on purpose")
	for _, test := range []struct {
		name   string
		host   string // "": 192.0.2.1
		script faultnet.Script
		want   fetch.Fault
		took   time.Duration
	}{
		{"trusted", "", faultnet.Script{certs.TLS(), faultnet.Stall()}, 0, 0},
		{"name with a final dot", "h.test.", faultnet.Script{certs.TLS(), faultnet.Stall()}, 0, 0},
		{"address with a zone", "192.0.2.1%eth0", faultnet.Script{certs.TLS(), faultnet.Stall()}, 0, 0},
		{"certificate of another host", "", faultnet.Script{certs.WrongHost()}, fetch.TLS, 0},
		{"expired certificate", "", faultnet.Script{certs.Expired()}, fetch.TLS, 0},
		{"self-signed certificate", "", faultnet.Script{certs.SelfSigned()}, fetch.TLS, 0},
		{"plaintext", "", faultnet.Script{faultnet.Send("220 hello\r\n"), faultnet.Stall()}, fetch.TLS, 0},
		{"alert", "", faultnet.Script{faultnet.Send("\x15\x03\x03\x00\x02\x02\x28"), faultnet.Stall()}, fetch.TLS, 0},
		{"old version", "", faultnet.Script{oldHello, faultnet.Stall()}, fetch.TLS, 0},
		{"end in a record", "", faultnet.Script{faultnet.TLSCut()}, fetch.Connect, 0},
		{"end before a record", "", faultnet.Script{faultnet.Fin()}, fetch.Connect, 0},
		{"reset", "", faultnet.Script{faultnet.Reset()}, fetch.Connect, 0},
		{"silence", "", faultnet.Script{faultnet.TLSStall()}, fetch.Timeout, 10 * time.Second},
		{"end of ctx", "", faultnet.Script{faultnet.TLSStall()}, fetch.Internal, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:443", test.script)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.want == fetch.Internal {
					time.AfterFunc(test.took, func() { cancel(broken) })
				}
				secured := 0
				trace := &trace.Trace{Phase: func(trace.Phase, net.Conn) { secured++ }}
				conn, err := fetch.Handshake(ctx, dial(t, n, "192.0.2.1:443"), &tls.Config{RootCAs: certs.Pool}, cmp.Or(test.host, "192.0.2.1"), trace)
				check(t, err, test.want, test.took, &secured)
				if test.want == fetch.Internal && err != broken {
					t.Errorf("got %v, want the cause", err)
				}
				if err == nil {
					conn.NetConn().Close()
				}
				s.Close()
			})
		})
		if test.host != "" || test.want == fetch.Internal {
			continue
		}
		t.Run(test.name+", proxy", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				script := test.script
				if test.want == 0 {
					script = faultnet.Script{certs.TLS(), faultnet.Expect("CONNECT h.test:7000 "), faultnet.Send("HTTP/1.1 200 ok\r\n\r\nHTTP/1.1 200 ok\r\n\r\n")}
				}
				s := n.Serve("192.0.2.1:443", script)
				opts := fetch.Options{Dial: n.Dial, Proxy: through("https://192.0.2.1"), TLS: &tls.Config{RootCAs: certs.Pool, ServerName: "target.test"}}
				opts.Policy = fetch.Typed()
				_, err := get(t, opts, "raw://h.test:7000/")
				check(t, err, test.want, test.took, nil)
				s.Close()
			})
		})
	}
}

func check(t *testing.T, err error, want fetch.Fault, took time.Duration, secured *int) {
	t.Helper()
	if fetch.FaultOf(err) != want {
		t.Errorf("got %v, class %v, want %v", err, fetch.FaultOf(err), want)
	}
	if secured != nil && (*secured == 1) != (err == nil) {
		t.Errorf("%d calls of Mark after %v", *secured, err)
	}
	if since := time.Since(epoch); since != took {
		t.Errorf("took %v, want %v", since, took)
	}
}

// epoch is the initial time in a synctest bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func dial(t *testing.T, n *faultnet.Network, addr string) net.Conn {
	t.Helper()
	conn, err := n.Dial(t.Context(), "tcp", netip.MustParseAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
