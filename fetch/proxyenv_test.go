package fetch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestProxyFromEnvironment checks the proxy of each target. The tests of
// internal/wire/proxy have more cases for each variable.
func TestProxyFromEnvironment(t *testing.T) {
	target := fetch.Target{Scheme: "gopher", Host: "h.test", Port: 70}
	web := fetch.Target{Scheme: "http", Host: "h.test", Port: 80}
	for _, c := range []struct {
		name, env string
		to        fetch.Target
		want      string // the proxy, or the class of the error
	}{
		{"none", "", target, ""},
		{"without a scheme", "all_proxy=p.test:8080", target, "http://p.test:8080"},
		{"with a login", "all_proxy=http://u:p%40@p.test:8080", target, "http://u:p%40@p.test:8080"},
		{"variable of the scheme", "all_proxy=p.test:1 gopher_proxy=socks5h://q.test:2", target, "socks5h://q.test:2"},
		{"socks is socks4", "all_proxy=socks://p.test", target, "socks4://p.test"},
		{"in upper case", "ALL_PROXY=p.test:1", target, "http://p.test:1"},
		{"HTTP_PROXY is not read", "HTTP_PROXY=p.test:1", web, ""},
		{"of a CGI program", "http_proxy=p.test:1 HTTP_PROXY=p.test:1 REQUEST_METHOD=GET", web, ""},
		{"exempt", "all_proxy=p.test:1 NO_PROXY=.h.test", target, ""},
		{"no_proxy for all hosts", "all_proxy=p.test:1 no_proxy=*", target, ""},
		{"target is the proxy as a gateway", "all_proxy=h.test:70", target, ""},
		{"target is the proxy, for http", "all_proxy=h.test:80", web, "http://h.test:80"},
		{"malformed", "all_proxy=http://[p.test", target, "usage"},
		{"no host", "all_proxy=http://", target, "usage"},
		{"no host but a port", "all_proxy=:8080", target, "usage"},
		{"port out of range", "all_proxy=p.test:99999", target, "usage"},
		{"unsupported proxy scheme", "all_proxy=ftp://p.test", target, "unsupported"},
		{"malformed, for another scheme", "ftp_proxy=http://[p.test", target, ""},
	} {
		proxy := fetch.ProxyFromEnvironment(func(name string) string {
			for pair := range strings.FieldsSeq(c.env) {
				if key, value, _ := strings.Cut(pair, "="); key == name {
					return value
				}
			}
			return ""
		})
		p, err := proxy(c.to)
		got := p.URL.Unredacted()
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// This example uses the proxies of the environment, as curl does.
func ExampleProxyFromEnvironment() {
	getenv := func(name string) string { // os.Getenv in a program
		return map[string]string{"all_proxy": "socks5h://proxy.example:1080", "no_proxy": "example.net"}[name]
	}
	proxy := fetch.ProxyFromEnvironment(getenv)
	client := fetch.New(fetch.Options{Proxy: proxy})
	defer client.Close()

	for _, host := range []string{"example.org", "www.example.net"} {
		p, err := proxy(fetch.Target{Scheme: "gopher", Host: host, Port: 70})
		fmt.Printf("%s: %q %v\n", host, p.URL, err)
	}
	// Output:
	// example.org: "socks5h://proxy.example:1080" <nil>
	// www.example.net: "" <nil>
}
