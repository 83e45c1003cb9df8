package http_test

import (
	"crypto/tls"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/http"
)

// What comes on a connection that nobody asks is believed by nobody: the next
// request goes over another one.
func TestIdleConnection(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	asked, answer := faultnet.Expect(`^GET / HTTP/1.1\r\n(?s:.*?)\r\n\r\n`), faultnet.Send(ok)
	wait := faultnet.Delay(2 * time.Second)
	once := faultnet.Script{asked, answer}
	for _, c := range []struct {
		name  string
		first faultnet.Script
		idle  time.Duration
		conns int
	}{
		{"quiet", faultnet.Script{asked, answer, asked, answer}, 40 * time.Second, 1},
		{"for long", faultnet.Script{asked, answer, asked, answer}, 46 * time.Second, 2},
		{"at once", faultnet.Script{asked, answer, asked, answer}, 0, 1},
		{"a farewell", append(once, wait, faultnet.Send("HTTP/1.1 408 Too late\r\nContent-Length: 0\r\n\r\n"), faultnet.Stall()), 3 * time.Second, 2},
		{"a forged answer", append(once, wait, faultnet.Send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), faultnet.Stall()), 3 * time.Second, 2},
		{"closed", append(once, wait), 3 * time.Second, 2},
		{"reset", append(once, wait, faultnet.Reset()), 3 * time.Second, 2},
		{"closed at once", once, 0, 2},
	} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(c.name+", "+scheme, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					network := faultnet.NewNetwork(t)
					addr, first, second := "8.8.8.8:80", c.first, once
					if scheme == "https" {
						addr = "8.8.8.8:443"
						first = append(faultnet.Script{certs.TLS()}, first...)
						second = append(faultnet.Script{certs.TLS()}, second...)
					}
					network.Serve(addr, first, second)
					client := fetch.New(fetch.Options{
						Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, TLS: &tls.Config{RootCAs: certs.Pool},
					}, http.Schemes(http.Options{HTTP1: true})...)
					defer client.Close()
					for range 2 {
						resp, err := client.Do(t.Context(), ask(scheme+"://h/"))
						if err != nil {
							t.Fatal(err)
						}
						if body, err := io.ReadAll(resp.Body); string(body) != "hello" || err != nil {
							t.Errorf("got %q, %v", body, err)
						}
						resp.Body.Close()
						time.Sleep(c.idle)
						synctest.Wait()
					}
					if n := len(network.Dialed()); n != c.conns {
						t.Errorf("%d connections, want %d", n, c.conns)
					}
				})
			})
		}
	}
}
