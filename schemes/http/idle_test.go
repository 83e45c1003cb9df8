package http_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

const forgedResponse = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

// TestIdleConnection checks that unsolicited bytes on an idle connection are
// not read as a response. The next request uses another connection.
func TestIdleConnection(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	expectRequest, response := faultnet.Expect(`^GET \S+ HTTP/1.1\r\n(?s:.*?)\r\n\r\n`), faultnet.Send(ok)
	wait := faultnet.Delay(200 * time.Millisecond)
	oneExchange := faultnet.Script{expectRequest, response}
	for _, c := range []struct {
		name  string
		first faultnet.Script
		idle  time.Duration
		conns int
	}{
		{"no surplus bytes", faultnet.Script{expectRequest, response, expectRequest, response}, 40 * time.Second, 1},
		{"idle for too long", faultnet.Script{expectRequest, response, expectRequest, response}, 46 * time.Second, 2},
		{"reused at oneExchange", faultnet.Script{expectRequest, response, expectRequest, response}, 0, 1},
		{"error response before close", append(oneExchange, wait, faultnet.Send("HTTP/1.1 408 Too late\r\nContent-Length: 0\r\n\r\n"), faultnet.Stall()), 300 * time.Millisecond, 2},
		{"forged response while idle", append(oneExchange, wait, faultnet.Send(forgedResponse), faultnet.Stall()), 300 * time.Millisecond, 2},
		{"forged response after the first", append(oneExchange, faultnet.Send(forgedResponse), faultnet.Stall()), 0, 2},
		{"forged response with the first", faultnet.Script{expectRequest, faultnet.Send(ok + forgedResponse), faultnet.Stall()}, 0, 2},
		{"a single byte", append(oneExchange, faultnet.Send("H"), faultnet.Stall()), 0, 2},
		{"closed", append(oneExchange, wait), 300 * time.Millisecond, 2},
		{"reset", append(oneExchange, wait, faultnet.Reset()), 300 * time.Millisecond, 2},
		{"closed at oneExchange", oneExchange, 0, 2},
	} {
		for _, route := range []string{"http", "https", "http through a proxy", "http through a proxy with TLS"} {
			t.Run(c.name+", "+route, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					network := faultnet.NewNetwork(t)
					scheme, _, proxied := strings.Cut(route, " ")
					addr, first, second := "8.8.8.8:80", c.first, oneExchange
					options := fetch.Options{
						Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, TLS: &tls.Config{RootCAs: certs.Pool},
					}
					secure := strings.HasSuffix(route, "TLS") || scheme == "https"
					if secure {
						addr = "8.8.8.8:443"
						first = append(faultnet.Script{certs.TLS()}, first...)
						second = append(faultnet.Script{certs.TLS()}, second...)
					}
					if proxied {
						proxy := map[bool]string{false: "http://h:80", true: "https://h:443"}[secure]
						options.Proxy = func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{URL: uri.MustParse(proxy)}, nil }
					}
					network.Serve(addr, first, second)
					client := fetch.New(options, http.Schemes(http.Options{HTTP1: true})...)
					defer client.Close()
					for range 2 {
						resp, err := client.Do(t.Context(), newRequest(scheme+"://h/"))
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

// TestIdleAcrossOrigins checks that surplus bytes from one origin are not read
// as the response of another origin behind the same proxy.
func TestIdleAcrossOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := faultnet.NewNetwork(t)
		expectRequest := faultnet.Expect(`^GET \S+ HTTP/1.1\r\n(?s:.*?)\r\n\r\n`)
		network.Serve("8.8.8.8:3128",
			faultnet.Script{expectRequest, faultnet.Send(ok), faultnet.Delay(time.Millisecond), faultnet.Send(forgedResponse), faultnet.Stall()},
			faultnet.Script{expectRequest, faultnet.Send(ok)})
		client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, Proxy: func(fetch.Target) (fetch.Proxy, error) {
			return fetch.Proxy{URL: uri.MustParse("http://proxy:3128")}, nil
		}}, http.Schemes(http.Options{})...)
		defer client.Close()
		for _, url := range []string{"http://evil.example/", "http://bank.example/"} {
			if _, body, err := get(t, client, newRequest(url)); body != "hello" || err != nil {
				t.Errorf("%s: got %q, %v", url, body, err)
			}
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
	})
}

// TestIdleWithinTLS sends a surplus TLS record together with a response.
// crypto/tls buffers the record, so a check of the socket does not find it.
func TestIdleWithinTLS(t *testing.T) {
	s := &script{}
	s.frames = func(c net.Conn) {
		joined := &joinedWrites{Conn: c.(*tls.Conn).NetConn()}
		secure := tls.Server(joined, s.config)
		r := bufio.NewReader(secure)
		if _, err := readHead(r); err != nil {
			return
		}
		if s.connCount() == 1 {
			joined.held = []byte{}
			io.WriteString(secure, ok)
			io.WriteString(secure, forgedResponse)
			joined.Conn.Write(joined.held)
			readHead(r)
			return
		}
		io.WriteString(secure, ok)
	}
	client := s.newClient(t, http.Options{HTTP1: true}, s.withTLS(t, "http/1.1"))
	for range 2 {
		if _, body, err := get(t, client, newRequest("https://h/")); body != "hello" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
	}
	if n := s.connCount(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// A joinedWrites is a connection that buffers writes while held is not nil.
type joinedWrites struct {
	net.Conn
	held []byte
}

func (c *joinedWrites) Write(p []byte) (int, error) {
	if c.held == nil {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

// TestIdleHTTP2 checks that frames for a stream that the client has not opened
// yet are not read as the response on that stream.
func TestIdleHTTP2(t *testing.T) {
	read := make(chan struct{})
	stop := sync.OnceFunc(func() { close(read) })
	s := &script{}
	s.frames = func(c net.Conn) {
		defer stop() // the client has read the frames when it closes the connection
		if c.(*tls.Conn).Handshake() != nil {
			return
		}
		io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
		framer := http2.NewFramer(c, c)
		framer.WriteSettings()
		var block strings.Builder
		hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		respond := func(stream uint32, text string) {
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(block.String()), EndHeaders: true})
			framer.WriteData(stream, true, []byte(text))
		}
		first := s.connCount() == 1
		for {
			f, err := framer.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					framer.WriteSettingsAck()
				}
			case *http2.PingFrame:
				stop()
			case *http2.HeadersFrame:
				respond(f.StreamID, "hello")
				if f.StreamID == 1 && first {
					respond(3, "forged")
					framer.WritePing(false, [8]byte{1})
				}
			}
		}
	}
	client := s.newClient(t, http.Options{}, s.withTLS(t, "h2"))
	for i := range 2 {
		if _, body, err := get(t, client, newRequest("https://h/")); body != "hello" || err != nil {
			t.Errorf("request %d: got %q, %v", i, body, err)
		}
		if i == 0 {
			<-read
		}
	}
}
