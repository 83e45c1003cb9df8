package http_test

import (
	"crypto/tls"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/http"
)

// TestEndlessGoAway checks that a server can make a request open a limited number
// of connections, if it ends each of them with GOAWAY.
func TestEndlessGoAway(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	for _, c := range []struct {
		name        string
		wait        time.Duration
		conns       int32 // minimum that is tried
		beforeFirst bool  // GOAWAY is sent before the client has sent its request
	}{
		{"at once", 0, 50, false},
		{"before the request", 0, 50, true},
		{"after a while", 25 * time.Second, 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var conns atomic.Int32
				goAway := func(s *frameServer) {
					time.Sleep(c.wait)
					s.write(func(f *http2.Framer) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) })
				}
				step := faultnet.Do("GOAWAY", func(conn *faultnet.Conn) error {
					conns.Add(1)
					s := &frameServer{framer: http2.NewFramer(conn, conn)}
					s.write(func(f *http2.Framer) error { return f.WriteSettings() })
					if c.beforeFirst {
						goAway(s)
						_, err := io.Copy(io.Discard, conn)
						return err
					}
					if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
						return nil
					}
					for {
						frame, err := s.framer.ReadFrame()
						if err != nil {
							return nil
						}
						if _, ok := frame.(*http2.HeadersFrame); ok {
							goAway(s)
						}
					}
				})
				network := faultnet.NewNetwork(t)
				network.Serve("8.8.8.8:443", faultnet.Script{certs.TLS("h2"), step})
				client := fetch.New(fetch.Options{
					Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, TLS: &tls.Config{RootCAs: certs.Pool},
				}, http.Schemes(http.Options{})...)
				defer client.Close()
				start := time.Now()
				_, err := readBody(t, client, "https://h/")
				took := time.Since(start)
				if fetch.FaultOf(err) != fetch.Connect || took > 4*time.Minute {
					t.Errorf("got %v after %v", err, took)
				}
				if n := conns.Load(); n < c.conns || n > 100 {
					t.Errorf("%d connections", n)
				}
			})
		})
	}
}
