package http_test

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/uri"
)

// TestStalledRequestBody checks that a request whose body the server does not
// accept ends with a timeout, even if other frames arrive. A server that accepts
// the body slowly gets all of it.
func TestStalledRequestBody(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	const window = 65_535 // before the first WINDOW_UPDATE
	for _, c := range []struct {
		name  string
		parts int           // parts of the body that the server permits, after the first window
		took  time.Duration // until the end of the request
		fault fetch.Fault   // or 0 for a response
	}{
		{"no further part", 0, time.Minute, fetch.Timeout},
		{"some parts", 20, 20*50*time.Second + time.Minute, fetch.Timeout},
		{"all parts, slowly", 100, 100 * 50 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const part = 16 << 10
				client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
					for range c.parts {
						time.Sleep(50 * time.Second)
						s.write(func(f *http2.Framer) error { return f.WriteWindowUpdate(stream, part) })
						s.write(func(f *http2.Framer) error { return f.WriteWindowUpdate(0, part) })
					}
					if c.fault == 0 {
						s.headers(stream, "204", true)
					}
					for s.write(func(f *http2.Framer) error { return f.WritePing(false, [8]byte{1}) }) {
						time.Sleep(3 * time.Second)
					}
				})
				start, body := time.Now(), make([]byte, window+100*part)
				m := message("POST", body)
				m.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
				resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("https://h/"), Outgoing: m})
				if err == nil {
					resp.Body.Close()
				}
				took := time.Since(start)
				if (err == nil) != (c.fault == 0) || err != nil && fetch.FaultOf(err) != c.fault || took < c.took || took > c.took+time.Minute {
					t.Errorf("%v after %v, want %q after %v", err, took, c.fault, c.took)
				}
			})
		})
	}
}

// TestStalledRequests checks that each of several requests that make no progress
// ends a minute after it was sent, although they have one timer.
func TestStalledRequests(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	synctest.Test(t, func(t *testing.T) {
		client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
			for s.write(func(f *http2.Framer) error { return f.WritePing(false, [8]byte{1}) }) {
				time.Sleep(3 * time.Second)
			}
		})
		var requests sync.WaitGroup
		for _, pause := range []time.Duration{0, 20 * time.Second, 50 * time.Second, 2 * time.Minute} {
			requests.Go(func() {
				time.Sleep(pause)
				start := time.Now()
				resp, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("https://h/"), Outgoing: message("POST", make([]byte, 1<<20))})
				if err == nil {
					resp.Body.Close()
				}
				if took := time.Since(start); fetch.FaultOf(err) != fetch.Timeout || took != time.Minute {
					t.Errorf("after a pause of %v: %v after %v", pause, err, took)
				}
			})
		}
		requests.Wait()
	})
}
