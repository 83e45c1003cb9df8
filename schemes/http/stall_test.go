package http_test

import (
	"crypto/tls"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// stalls are servers that keep the connection of a stalled body busy.
var stalls = []struct {
	name string
	body bool                                     // the frames may follow only a response head
	busy func(s *frameServer, stream uint32) bool // called every three seconds
}{
	{"silence", false, func(*frameServer, uint32) bool { return false }},
	{"empty DATA frames", true, func(s *frameServer, stream uint32) bool { return s.data(stream, "", false) }},
	{"padding", true, func(s *frameServer, stream uint32) bool {
		return s.write(func(f *http2.Framer) error { return f.WriteDataPadded(stream, false, nil, make([]byte, 100)) })
	}},
	{"PING", false, func(s *frameServer, _ uint32) bool {
		return s.write(func(f *http2.Framer) error { return f.WritePing(false, [8]byte{1}) })
	}},
	{"SETTINGS", false, func(s *frameServer, _ uint32) bool {
		return s.write(func(f *http2.Framer) error { return f.WriteSettings() })
	}},
	{"WINDOW_UPDATE", false, func(s *frameServer, stream uint32) bool {
		return s.write(func(f *http2.Framer) error { return f.WriteWindowUpdate(stream, 1) })
	}},
}

// TestStalledStream checks that a body of HTTP/2 ends with a timeout if no byte
// of the body arrives, even if other frames do.
func TestStalledStream(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	for _, c := range stalls {
		for _, at := range []string{"head", "body", "sniffed body"} {
			if at == "head" && c.body {
				continue
			}
			t.Run(c.name+" in the "+at, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
						switch at {
						case "body":
							s.headers(stream, "200", false, "content-type", "text/plain")
							s.data(stream, "hello", false)
						case "sniffed body":
							s.headers(stream, "200", false)
						}
						for c.busy(s, stream) {
							time.Sleep(3 * time.Second)
						}
					})
					start := time.Now()
					body, err := readBody(t, client, "https://h/")
					took, want := time.Since(start), time.Minute
					if at == "head" {
						want = 30 * time.Second
					}
					if fetch.FaultOf(err) != fetch.Timeout || took != want || at == "body" && body != "hello" {
						t.Errorf("got %q, %v after %v, want a timeout after %v", body, err, took, want)
					}
				})
			})
		}
	}
}

// TestStalledStreamBesideActive checks that a stalled stream ends with a
// timeout although another stream of the same connection receives bytes, and
// that the other stream is complete.
func TestStalledStreamBesideActive(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	synctest.Test(t, func(t *testing.T) {
		client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
			s.headers(stream, "200", false, "content-type", "text/plain")
			if stream == 1 {
				return
			}
			for range 100 {
				s.data(stream, strings.Repeat("x", 4<<10), false)
				time.Sleep(time.Second)
			}
			s.data(stream, "", true)
		})
		stalled, err := client.Do(t.Context(), newRequest("https://h/stalled"))
		if err != nil {
			t.Fatal(err)
		}
		defer stalled.Body.Close()
		var active sync.WaitGroup
		active.Go(func() {
			if body, err := readBody(t, client, "https://h/active"); len(body) != 400<<10 || err != nil {
				t.Errorf("active stream: %d bytes, %v", len(body), err)
			}
		})
		start := time.Now()
		if _, err := io.ReadAll(stalled.Body); fetch.FaultOf(err) != fetch.Timeout || time.Since(start) != time.Minute {
			t.Errorf("stalled stream: %v after %v", err, time.Since(start))
		}
		active.Wait()
	})
}

// TestPausedConsumer checks that a caller that pauses is not taken for a
// stalled server. The server sends the end of the body only after the caller
// has read its beginning.
func TestPausedConsumer(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	const size = 3 << 20
	serve := func(s *frameServer, stream uint32) {
		window := s.window(stream)
		s.headers(stream, "200", false)
		s.data(stream, strings.Repeat("x", size), false)
		if _, open := <-window; open {
			s.data(stream, "end", true)
		}
	}
	for _, c := range []struct {
		name  string
		wrap  []fetch.Middleware
		pause time.Duration
	}{
		{"a pipe without a reader", nil, 5 * time.Minute},
		{"a rate limit", []fetch.Middleware{wrap.Limit(20 << 10)}, 0},
		{"retries", []fetch.Middleware{wrap.Retry(wrap.RetryOptions{Attempts: 2})}, 5 * time.Minute},
	} {
		for _, idle := range []time.Duration{0, time.Second, -1} {
			t.Run(c.name+", idle "+idle.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					policy := fetch.Typed()
					policy.Idle = idle
					client := newFrameClient(t, certs, policy, c.wrap, serve)
					resp, err := client.Do(t.Context(), newRequest("https://h/"))
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					time.Sleep(c.pause)
					if body, err := io.ReadAll(resp.Body); len(body) != size+len("end") || err != nil {
						t.Errorf("%d bytes, %v", len(body), err)
					}
				})
			})
		}
	}
}

func readBody(t testing.TB, client *fetch.Client, url string) (string, error) {
	resp, err := client.Do(t.Context(), newRequest(url))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// newFrameClient returns a Client whose only server has the host h. The server
// calls serve for each HTTP/2 request.
func newFrameClient(
	t *testing.T, certs *faultnet.Certs, policy fetch.Policy, wrap []fetch.Middleware, serve func(*frameServer, uint32),
) *fetch.Client {
	network := faultnet.NewNetwork(t)
	network.Serve("8.8.8.8:443", faultnet.Script{certs.TLS("h2"), serveFrames(serve)})
	client := fetch.New(fetch.Options{
		Policy: policy, Wrap: wrap, Dial: network.Dial, Resolver: resolver{}, TLS: &tls.Config{RootCAs: certs.Pool},
	}, http.Schemes(http.Options{})...)
	t.Cleanup(func() { client.Close() })
	return client
}
