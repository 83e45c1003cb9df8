package http_test

import (
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestConnectionFaults checks the class of the error for each fault of a
// connection, the time until the error, and the bytes delivered before it.
// Times are fake.
func TestConnectionFaults(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	expectRequest := faultnet.Expect(`^GET / HTTP/1.1\r\n(?s:.*)\r\n\r\n`)
	head := func(n int) faultnet.Step {
		return faultnet.Send("HTTP/1.1 200 OK\r\n" + sprintf("Content-Length: %d\r\n\r\n", n))
	}
	hello, open := faultnet.Send("hello"), faultnet.Send("HTTP/1.1 200 OK\r\n\r\n")
	for _, c := range []struct {
		name, url string
		script    faultnet.Script
		body      string
		want      fetch.Fault // zero for no error
		transient bool        // the error is transient
		after     time.Duration
	}{
		{"complete response", "http://h/", faultnet.Script{expectRequest, head(5), hello}, "hello", 0, false, 0},
		{"connection refused", "http://h/", faultnet.Script{faultnet.Refuse()}, "", fetch.Connect, true, 0},
		{"connection timeout", "http://h/", faultnet.Script{faultnet.Blackhole()}, "", fetch.Timeout, true, 10 * time.Second},
		{"closed before the first byte", "http://h/", faultnet.Script{expectRequest}, "", fetch.Connect, true, 0},
		{"reset before the first byte", "http://h/", faultnet.Script{expectRequest, faultnet.Reset()}, "", fetch.Connect, true, 0},
		{"reset in the head", "http://h/", faultnet.Script{expectRequest, faultnet.Send("HTTP/1.1 200"), faultnet.Reset()}, "", fetch.Connect, true, 0},
		{"silent before the first byte", "http://h/", faultnet.Script{expectRequest, faultnet.Stall()}, "", fetch.Timeout, true, 30 * time.Second},
		{"silent in the head", "http://h/", faultnet.Script{expectRequest, faultnet.Send("HTTP/1.1 200 OK\r\nX: "), faultnet.Stall()}, "", fetch.Timeout, true, 30 * time.Second},
		{"server of another protocol", "http://h/", faultnet.Script{faultnet.Send("SSH-2.0-x\r\n"), faultnet.Stall()}, "", fetch.Protocol, false, 0},
		{"another protocol, after the request", "http://h/", faultnet.Script{expectRequest, faultnet.Send("SSH-2.0-x\r\n"), faultnet.Stall()}, "", fetch.Protocol, false, 0},
		{"closed in the body", "http://h/", faultnet.Script{expectRequest, head(9), hello}, "hello", fetch.Truncated, true, 0},
		{"reset in the body", "http://h/", faultnet.Script{expectRequest, head(9), hello, faultnet.Delay(time.Second), faultnet.Reset()}, "hello", fetch.Truncated, true, time.Second},
		{"silent in the body", "http://h/", faultnet.Script{expectRequest, head(9), hello, faultnet.Stall()}, "hello", fetch.Timeout, true, time.Minute},
		{"slow body", "http://h/", faultnet.Script{expectRequest, head(900), faultnet.SendSlow(strings.Repeat("x", 900), 1, time.Second), faultnet.Stall()}, strings.Repeat("x", 60), fetch.Timeout, true, time.Minute},
		{"no length", "http://h/", faultnet.Script{expectRequest, open, hello}, "hello", 0, false, 0},
		{"reset without a length", "http://h/", faultnet.Script{expectRequest, open, hello, faultnet.Delay(time.Second), faultnet.Reset()}, "hello", fetch.Truncated, true, time.Second},
		{"garbage", "http://h/", faultnet.Script{expectRequest, faultnet.Garbage(5000)}, "", fetch.Protocol, false, 0},
		{"TLS", "https://h/", faultnet.Script{certs.TLS(), expectRequest, head(5), hello}, "hello", 0, false, 0},
		{"TLS handshake timeout", "https://h/", faultnet.Script{faultnet.TLSStall()}, "", fetch.Timeout, true, 10 * time.Second},
		{"TLS closed in the handshake", "https://h/", faultnet.Script{faultnet.TLSCut()}, "", fetch.Connect, true, 0},
		{"certificate of another host", "https://h/", faultnet.Script{certs.WrongHost()}, "", fetch.TLS, false, 0},
		{"certificate expired", "https://h/", faultnet.Script{certs.Expired()}, "", fetch.TLS, false, 0},
		{"self-signed certificate", "https://h/", faultnet.Script{certs.SelfSigned()}, "", fetch.TLS, false, 0},
		{"plaintext server", "https://h/", faultnet.Script{faultnet.Send("HTTP/1.1 400 x\r\n\r\n"), faultnet.Stall()}, "", fetch.TLS, false, 0},
		{"TLS closed without close_notify, known length", "https://h/", faultnet.Script{certs.TLS(), expectRequest, head(5), hello, faultnet.Cut()}, "hello", 0, false, 0},
		{"TLS closed without close_notify, no length", "https://h/", faultnet.Script{certs.TLS(), expectRequest, open, hello, faultnet.Cut()}, "hello", fetch.Truncated, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := faultnet.NewNetwork(t)
				port := map[bool]string{false: "80", true: "443"}[strings.HasPrefix(c.url, "https")]
				network.Serve("8.8.8.8:"+port, c.script)
				client := fetch.New(fetch.Options{
					Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, TLS: &tls.Config{RootCAs: certs.Pool},
				}, http.Schemes(http.Options{HTTP1: true})...)
				defer client.Close()
				start := time.Now()
				resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse(c.url)})
				var body []byte
				if err == nil {
					body, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				elapsed := time.Since(start)
				if (c.want == 0) != (err == nil) || c.want != 0 && !errors.Is(err, c.want) || fetch.Retryable(err) != c.transient {
					t.Errorf("got %v (%v, transient: %v), want %v", err, fetch.FaultOf(err), fetch.Retryable(err), c.want)
				}
				if !strings.HasPrefix(string(body), c.body) || len(body) > len(c.body)+2 {
					t.Errorf("got %d bytes %.20q, want %q", len(body), body, c.body)
				}
				if elapsed < c.after || elapsed > c.after+5*time.Second {
					t.Errorf("took %v, want %v", elapsed, c.after)
				}
			})
		})
	}
}
