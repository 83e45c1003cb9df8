package http_test

import (
	"bytes"
	"log"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// TestFrameFlood sends many frames without data. It checks that a flood ends
// the connection, that fewer frames do no harm, and that package net/http logs
// nothing to the standard logger.
func TestFrameFlood(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	raw := func(kind http2.FrameType, flags http2.Flags, payload int) func(f *http2.Framer, stream uint32) error {
		return func(f *http2.Framer, stream uint32) error {
			return f.WriteRawFrame(kind, flags, stream, make([]byte, payload))
		}
	}
	for _, c := range []struct {
		name  string
		frame func(f *http2.Framer, stream uint32) error
		first func(f *http2.Framer, stream uint32) error // sent in place of the response head, if not nil
	}{
		{"unknown type", raw(0xfe, 0, 0), nil},
		{"unknown type with a payload", raw(0xbe, 0, 1000), nil},
		{"PRIORITY", func(f *http2.Framer, stream uint32) error {
			return f.WritePriority(stream, http2.PriorityParam{Weight: 1})
		}, nil},
		{"SETTINGS", func(f *http2.Framer, _ uint32) error { return f.WriteSettings() }, nil},
		{"PING", func(f *http2.Framer, _ uint32) error { return f.WritePing(false, [8]byte{1}) }, nil},
		{"WINDOW_UPDATE", func(f *http2.Framer, _ uint32) error { return f.WriteWindowUpdate(0, 1) }, nil},
		{"empty DATA", func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, nil) }, nil},
		{"padding", func(f *http2.Framer, stream uint32) error {
			return f.WriteDataPadded(stream, false, nil, make([]byte, 10))
		}, nil},
		{"CONTINUATION", func(f *http2.Framer, stream uint32) error { return f.WriteContinuation(stream, false, nil) },
			func(f *http2.Framer, stream uint32) error {
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x88}}) // ":status: 200"
			}},
	} {
		for _, many := range []bool{true, false} {
			name := c.name
			if !many {
				name = "some frames: " + name
			}
			t.Run(name, func(t *testing.T) {
				logged := captureLog(t)
				synctest.Test(t, func(t *testing.T) {
					client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
						if c.first != nil {
							s.write(func(f *http2.Framer) error { return c.first(f, stream) })
						} else {
							s.headers(stream, "200", false, "content-type", "text/plain")
							s.data(stream, "hello", false)
						}
						for n := 0; many || n < 5000; n++ {
							if !s.write(func(f *http2.Framer) error { return c.frame(f, stream) }) {
								return
							}
						}
						if c.first != nil {
							s.write(func(f *http2.Framer) error { return f.WriteContinuation(stream, true, nil) })
							s.data(stream, "hello", false)
						}
						s.data(stream, " end", true)
					})
					body, err := readBody(t, client, "https://h/")
					if many != (fetch.FaultOf(err) == fetch.Protocol) || !many && (body != "hello end" || err != nil) {
						t.Errorf("got %q, %v", body, err)
					}
				})
				if logged.Len() > 0 {
					t.Errorf("net/http logged %d bytes: %.200s", logged.Len(), logged)
				}
			})
		}
	}
}

// TestSlowFrames checks that frames without data do not end a connection if
// they arrive slowly, for example as keep-alives of a server, nor between
// requests.
func TestSlowFrames(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	ping := func(f *http2.Framer) error { return f.WritePing(false, [8]byte{1}) }
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int32
		client := newFrameClient(t, certs, fetch.Typed(), nil, func(s *frameServer, stream uint32) {
			first := requests.Add(1) == 1
			for range 2000 {
				s.write(ping)
			}
			s.headers(stream, "200", !first, "content-type", "text/plain")
			if !first {
				return
			}
			for range 25_000 {
				s.write(ping)
				time.Sleep(10 * time.Millisecond)
			}
			s.data(stream, "end", true)
		})
		resp, err := client.Do(t.Context(), newRequest("https://h/"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.TLS == nil || resp.Proto != "HTTP/2" || resp.Peer.String() != "8.8.8.8" {
			t.Errorf("TLS %v, %s, peer %v", resp.TLS, resp.Proto, resp.Peer)
		}
		time.Sleep(200 * time.Second) // the caller pauses
		for range 20 {
			if _, err := readBody(t, client, "https://h/empty"); err != nil {
				t.Fatal(err)
			}
		}
		buffer := make([]byte, 10)
		if n, err := resp.Body.Read(buffer); string(buffer[:n]) != "end" || err != nil {
			t.Errorf("got %q, %v", buffer[:n], err)
		}
	})
}

// captureLog redirects the standard logger to the returned buffer until the
// test ends.
func captureLog(t *testing.T) *bytes.Buffer {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(before) })
	return &logged
}
