package http_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// newHostileClient returns a client of a server in memory. f serves its only
// connection.
func newHostileClient(t *testing.T, opts http.Options, f func(net.Conn)) *fetch.Client {
	var serving sync.WaitGroup
	policy := fetch.Typed()
	policy.MaxBody = 16 << 20
	client := fetch.New(fetch.Options{
		Policy:   policy,
		Resolver: resolver{},
		Dial: func(context.Context, string, netip.AddrPort) (net.Conn, error) {
			clientConn, serverConn := net.Pipe()
			serving.Go(func() {
				defer serverConn.Close()
				f(serverConn)
			})
			return clientConn, nil
		},
	}, http.Schemes(opts)...)
	t.Cleanup(func() {
		client.Close()
		serving.Wait()
	})
	return client
}

// flood returns a server that sends start and then repeats more without end.
func flood(start, more string) func(net.Conn) {
	more = strings.Repeat(more, max(1, (64<<10)/len(more)))
	return func(conn net.Conn) {
		io.ReadFull(conn, make([]byte, len("GET / HTTP/1.1\r\n")))
		go io.Copy(io.Discard, conn)
		if _, err := io.WriteString(conn, start); err != nil {
			return
		}
		for {
			if _, err := io.WriteString(conn, more); err != nil {
				return
			}
		}
	}
}

// TestFloods checks that endless responses fail and use little memory, as in
// CVE-2023-38039, CVE-2023-24534, CVE-2023-39326 and CVE-2025-22871.
func TestFloods(t *testing.T) {
	const head, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, test := range []struct {
		name, start, more string
		want              fetch.Fault
	}{
		{"small fields", head, "X: y\r\n", fetch.TooLarge},
		{"one long field", head + "X: ", "yyyyyyyy", fetch.TooLarge},
		{"one folded field", head + "X: y\r\n", " y\r\n", fetch.TooLarge},
		{"one long status line", "HTTP/1.1 200 ", "yyyyyyyy", fetch.TooLarge},
		{"interim responses", "", "HTTP/1.1 103 x\r\nLink: y\r\n\r\n", fetch.Protocol},
		{"one interim response", "HTTP/1.1 103 x\r\n", "X: y\r\n", fetch.TooLarge},
		{"body", head + "\r\n", "yyyyyyyy", fetch.TooLarge},
		{"chunk size", chunked, "0", fetch.Protocol},
		{"chunk extension", chunked + "1;", "yyyyyyyy", fetch.Protocol},
		{"chunk extensions", chunked, "1;" + strings.Repeat("y", 2000) + "\r\nx\r\n", fetch.Protocol},
		{"trailer", chunked + "0\r\n", "X: y\r\n", fetch.Protocol},
	} {
		for name, opts := range map[string]http.Options{"": {}, ", old reader": {Legacy: http.Legacy{Tolerant: true}}} {
			t.Run(test.name+name, func(t *testing.T) {
				client := newHostileClient(t, opts, flood(test.start, test.more))
				growth := heapGrowth(func() {
					resp, err := client.Do(t.Context(), newRequest("http://h/"))
					if err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					if err == nil || !errors.Is(err, test.want) && !errors.Is(err, fetch.TooLarge) {
						t.Errorf("got %v (%v), want %v", err, fetch.FaultOf(err), test.want)
					}
				})
				if growth > 64<<20 {
					t.Errorf("memory grew by %d MiB", growth>>20)
				}
			})
		}
	}
}

// TestFrameFloods checks endless HTTP/2 frames, as in CVE-2023-45288 and
// CVE-2026-33814.
func TestFrameFloods(t *testing.T) {
	for name, f := range map[string]func(*http2.Framer) error{
		"continuation": func(f *http2.Framer) error {
			return f.WriteContinuation(1, false, fieldBlock("x", strings.Repeat("y", 1000)))
		},
		"settings": func(f *http2.Framer) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384})
		},
		"ping": func(f *http2.Framer) error { return f.WritePing(false, [8]byte{}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{}
			trust := s.withTLS(t, "h2")
			s.frames = func(conn net.Conn) { floodFrames(conn, name == "continuation", f) }
			client := s.newClient(t, http.Options{}, trust)
			growth := heapGrowth(func() {
				resp, err := client.Do(t.Context(), newRequest("https://h/"))
				if err == nil {
					resp.Body.Close()
					t.Error("got a response")
				}
				if !errors.Is(err, fetch.TooLarge) && !errors.Is(err, fetch.Protocol) {
					t.Errorf("got %v (%v)", err, fetch.FaultOf(err))
				}
			})
			if growth > 64<<20 {
				t.Errorf("memory grew by %d MiB", growth>>20)
			}
		})
	}
}

func floodFrames(conn net.Conn, headers bool, f func(*http2.Framer) error) {
	defer conn.Close()
	io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
	framer := http2.NewFramer(conn, conn)
	err := framer.WriteSettings()
	for headersSent := !headers; !headersSent && err == nil; {
		var frame http2.Frame
		frame, err = framer.ReadFrame()
		_, headersSent = frame.(*http2.HeadersFrame)
	}
	go io.Copy(io.Discard, conn)
	if headers && err == nil {
		err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fieldBlock(":status", "200")})
	}
	for err == nil {
		err = f(framer)
	}
}

// fieldBlock encodes a header field without adding it to the HPACK table.
func fieldBlock(name, value string) []byte {
	var b bytes.Buffer
	hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: true})
	return b.Bytes()
}
