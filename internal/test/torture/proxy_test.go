package torture

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// URLs of the proxies of every world. Their host names are in no other URL.
const (
	httpProxy  = "http://bob:" + secret + "@proxy.example:3128"
	socksProxy = "socks5h://bob:" + secret + "@proxy.example:1080"
	proxyAddr  = "9.9.9.9"
)

// proxyFunc returns the ProxyFunc of s, or nil if s uses no proxy.
func (s *scenario) proxyFunc() fetch.ProxyFunc {
	if s.proxy == "" {
		return nil
	}
	return func(fetch.Target) (fetch.Proxy, error) {
		u, err := fetch.ParseURL(s.proxy)
		return fetch.Proxy{URL: u}, err
	}
}

// serveProxies starts the HTTP proxy and the SOCKS proxy.
func (w *world) serveProxies() {
	web := site()
	tunnel := w.withoutHeaders(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		far, err := w.dialName(r.Host)
		if err != nil {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		conn, _, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		join(conn, far)
	}), "Authorization", "X-Api-Key", "Cookie")
	proxy := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("bob:"+secret)) {
			rw.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			w.countRequests(web).ServeHTTP(rw, r)
			return
		}
		tunnel.ServeHTTP(rw, r)
	})
	w.serve(proxyAddr+":3128", &httptest.Server{Config: &http.Server{Handler: proxy}}, false)
	w.serveConns(proxyAddr+":1080", func(c net.Conn, r *bufio.Reader) {
		if far := w.socks(c, r); far != nil {
			join(c, far)
		}
	})
}

func (w *world) dialName(address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := w.LookupNetIP(w.t.Context(), "ip", host)
	if err != nil {
		return nil, err
	}
	return w.dial(w.t.Context(), "tcp", netip.MustParseAddrPort(net.JoinHostPort(addrs[0].String(), port)))
}

// socks serves a SOCKS handshake (RFC 1928, RFC 1929). It returns the
// connection to the requested host, or nil if the handshake fails.
func (w *world) socks(c net.Conn, r *bufio.Reader) net.Conn {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil
		}
		return b
	}
	head := read(2)
	if head == nil || read(int(head[1])) == nil {
		return nil
	}
	c.Write([]byte{5, 2})
	const login = "\x01\x03bob\x06" + secret
	if string(read(len(login))) != login {
		return nil
	}
	c.Write([]byte{1, 0})
	head = read(5)
	if head == nil {
		return nil
	}
	place := read(int(head[4]) + 2)
	if place == nil {
		return nil
	}
	name, port := string(place[:len(place)-2]), int(place[len(place)-2])<<8|int(place[len(place)-1])
	far, err := w.dialName(net.JoinHostPort(name, strconv.Itoa(port)))
	if err != nil {
		return nil
	}
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return far
}

// join copies bytes between a and b in both directions until one of them ends.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			io.Copy(way[0], way[1])
			a.Close()
			b.Close()
		})
	}
	both.Wait()
}
