package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
)

// raw is a scheme that sends a line of HTTP/1.0 and reads the response to its
// end. Unlike the http driver, it does not handle proxies.
func raw() fetch.Scheme {
	return fetch.Scheme{
		Name: "raw", Port: 8000, Ports: scheme.Ports{Class: scheme.TextPorts},
		Plan: func(*fetch.Request) ([]scheme.Step, error) { return nil, nil },
		Open: func(env fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				t, err := fetch.TargetOf(req.URL, 8000)
				if err != nil {
					return nil, err
				}
				conn, err := env.Net.DialContext(ctx, "tcp", t.Address())
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(conn, "GET %s HTTP/1.0\r\n\r\n", req.URL.Path())
				return &fetch.Response{Kind: fetch.Document, Size: -1, Peer: fetch.PeerOf(conn), Body: conn}, nil
			})
		},
	}
}

func through(proxy string) fetch.ProxyFunc {
	p := fetch.Proxy{URL: uri.MustParse(proxy), Auth: fetch.ProxyAny}
	return func(fetch.Target) (fetch.Proxy, error) { return p, nil }
}

func get(t *testing.T, o fetch.Options, url string) (string, error) {
	t.Helper()
	c := fetch.New(o, raw())
	defer c.Close()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.Peer.IsValid() {
		t.Errorf("%s: peer %v, though a proxy stands between", url, resp.Peer)
	}
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// TestProxies sends requests to a real server through real proxies of every
// kind.
func TestProxies(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("hello.txt", []byte("hello\n"))
	policy := fetch.Typed()
	_, port, _ := net.SplitHostPort(web.Addr)
	for name, start := range map[string]func(peer.TB, peer.ProxyOptions) *peer.Server{
		"tinyproxy": peer.Tinyproxy, "microsocks": peer.Microsocks, "dante": peer.Dante, "squid": peer.Squid,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, peer.ProxyOptions{})
			for _, scheme := range map[string][]string{
				"tinyproxy": {"http"}, "squid": {"http"}, "microsocks": {"socks5", "socks5h"},
				"dante": {"socks4", "socks5", "socks5h"}, // dante does not support socks4a
			}[name] {
				got, err := get(t, fetch.Options{Policy: policy, Proxy: through(scheme + "://" + p.Addr)}, "raw://localhost:"+port+"/hello.txt")
				if err != nil || !strings.HasSuffix(got, "\r\n\r\nhello\n") {
					t.Errorf("%s: got %q, %v", scheme, got, err)
				}
			}
		})
	}
}

// TestProxyLogin checks the authentication to a proxy.
func TestProxyLogin(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("hello.txt", []byte("hello\n"))
	for name, start := range map[string]func(peer.TB, peer.ProxyOptions) *peer.Server{"tinyproxy": peer.Tinyproxy, "microsocks": peer.Microsocks} {
		t.Run(name, func(t *testing.T) {
			p := start(t, peer.ProxyOptions{Login: true})
			scheme := map[string]string{"tinyproxy": "http", "microsocks": "socks5h"}[name]
			for who, want := range map[string]fetch.Fault{
				peer.User + ":" + peer.Password + "@": 0,
				peer.User + ":wrong@":                 fetch.Auth,
				"":                                    fetch.Auth,
			} {
				_, err := get(t, fetch.Options{Policy: fetch.Typed(), Proxy: through(scheme + "://" + who + p.Addr)}, "raw://"+web.Addr+"/hello.txt")
				if fetch.FaultOf(err) != want || err != nil && strings.Contains(err.Error(), "wrong") {
					t.Errorf("%q: got %v, want %v", who, err, want)
				}
			}
		})
	}
}

// TestProxyPolicy checks that a blocked target is not requested from a proxy.
func TestProxyPolicy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Error("the proxy was asked")
			c.Close()
		}
	}()
	proxy := through("http://" + l.Addr().String())
	for url, policy := range map[string]fetch.Policy{
		"raw://127.0.0.1:8000/":       fetch.Public(),
		"raw://169.254.169.254:8000/": fetch.Typed(),
		"raw://h.example:25/":         fetch.Typed(),
	} {
		_, err := get(t, fetch.Options{Policy: policy, Proxy: proxy}, url)
		if !errors.Is(err, fetch.BadAddress) && !errors.Is(err, fetch.BadPort) {
			t.Errorf("%s: got %v", url, err)
		}
	}
}
