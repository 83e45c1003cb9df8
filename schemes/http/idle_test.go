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
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

// Bytes that arrive on a connection without a request are no answer: the next
// request goes over another connection, however short the first was idle.
func TestIdleConnection(t *testing.T) {
	certs := faultnet.NewCerts(t, "h")
	asked, answer := faultnet.Expect(`^GET \S+ HTTP/1.1\r\n(?s:.*?)\r\n\r\n`), faultnet.Send(ok)
	wait := faultnet.Delay(200 * time.Millisecond)
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
		{"a farewell", append(once, wait, faultnet.Send("HTTP/1.1 408 Too late\r\nContent-Length: 0\r\n\r\n"), faultnet.Stall()), 300 * time.Millisecond, 2},
		{"a forged answer", append(once, wait, faultnet.Send(forged), faultnet.Stall()), 300 * time.Millisecond, 2},
		{"a forged answer behind the first", append(once, faultnet.Send(forged), faultnet.Stall()), 0, 2},
		{"a forged answer with the first", faultnet.Script{asked, faultnet.Send(ok + forged), faultnet.Stall()}, 0, 2},
		{"a single byte", append(once, faultnet.Send("H"), faultnet.Stall()), 0, 2},
		{"closed", append(once, wait), 300 * time.Millisecond, 2},
		{"reset", append(once, wait, faultnet.Reset()), 300 * time.Millisecond, 2},
		{"closed at once", once, 0, 2},
	} {
		for _, way := range []string{"http", "https", "http through a proxy", "http through a proxy with TLS"} {
			t.Run(c.name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					network := faultnet.NewNetwork(t)
					scheme, _, proxied := strings.Cut(way, " ")
					addr, first, second := "8.8.8.8:80", c.first, once
					options := fetch.Options{
						Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, TLS: &tls.Config{RootCAs: certs.Pool},
					}
					secure := strings.HasSuffix(way, "TLS") || scheme == "https"
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
						resp, err := client.Do(t.Context(), wireRequest(scheme+"://h/"))
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

// Of one origin behind a proxy the surplus does not become the answer of
// another.
func TestIdleAcrossOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := faultnet.NewNetwork(t)
		asked := faultnet.Expect(`^GET \S+ HTTP/1.1\r\n(?s:.*?)\r\n\r\n`)
		network.Serve("8.8.8.8:3128",
			faultnet.Script{asked, faultnet.Send(ok), faultnet.Delay(time.Millisecond), faultnet.Send(forged), faultnet.Stall()},
			faultnet.Script{asked, faultnet.Send(ok)})
		client := fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: network.Dial, Resolver: resolver{}, Proxy: func(fetch.Target) (fetch.Proxy, error) {
			return fetch.Proxy{URL: uri.MustParse("http://proxy:3128")}, nil
		}}, http.Schemes(http.Options{})...)
		defer client.Close()
		for _, url := range []string{"http://evil.example/", "http://bank.example/"} {
			if _, body, err := get(t, client, wireRequest(url)); body != "hello" || err != nil {
				t.Errorf("%s: got %q, %v", url, body, err)
			}
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
	})
}

// A record of TLS that arrives together with the answer waits within
// crypto/tls, where no look at the socket finds it.
func TestIdleWithinTLS(t *testing.T) {
	s := &script{}
	s.frames = func(c net.Conn) {
		both := &oneWrite{Conn: c.(*tls.Conn).NetConn()}
		secure := tls.Server(both, s.config)
		r := bufio.NewReader(secure)
		if _, err := readHead(r); err != nil {
			return
		}
		if s.dialled() == 1 {
			both.held = []byte{}
			io.WriteString(secure, ok)
			io.WriteString(secure, forged)
			both.Conn.Write(both.held)
			readHead(r)
			return
		}
		io.WriteString(secure, ok)
	}
	client := s.open(t, http.Options{HTTP1: true}, s.secure(t, "http/1.1"))
	for range 2 {
		if _, body, err := get(t, client, wireRequest("https://h/")); body != "hello" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
	}
	if n := s.dialled(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// oneWrite keeps what is written, once held is not nil.
type oneWrite struct {
	net.Conn
	held []byte
}

func (c *oneWrite) Write(p []byte) (int, error) {
	if c.held == nil {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

// Frames of HTTP/2 for a stream that the client has not opened yet are no
// answer to the request that opens it.
func TestIdleHTTP2(t *testing.T) {
	read := make(chan struct{})
	over := sync.OnceFunc(func() { close(read) })
	s := &script{}
	s.frames = func(c net.Conn) {
		defer over() // a client that ends the connection has read it, too
		if c.(*tls.Conn).Handshake() != nil {
			return
		}
		io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
		framer := http2.NewFramer(c, c)
		framer.WriteSettings()
		var block strings.Builder
		hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		answer := func(stream uint32, text string) {
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(block.String()), EndHeaders: true})
			framer.WriteData(stream, true, []byte(text))
		}
		first := s.dialled() == 1
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
				over()
			case *http2.HeadersFrame:
				answer(f.StreamID, "hello")
				if f.StreamID == 1 && first {
					answer(3, "forged")
					framer.WritePing(false, [8]byte{1})
				}
			}
		}
	}
	client := s.open(t, http.Options{}, s.secure(t, "h2"))
	for i := range 2 {
		if _, body, err := get(t, client, wireRequest("https://h/")); body != "hello" || err != nil {
			t.Errorf("request %d: got %q, %v", i, body, err)
		}
		if i == 0 {
			<-read
		}
	}
}
