package fetch

import (
	"strings"

	"github.com/anyurl/fetch/internal/proxy"
	"github.com/anyurl/fetch/uri"
)

// ProxyFromEnvironment returns the ProxyFunc of the environment variables that
// getenv, usually os.Getenv, reads. They are those of curl: SCHEME_proxy, or
// else all_proxy, names the proxy as [ParseProxy] reads it, and no_proxy lists
// hosts that are reached directly. A variable in lower case precedes the same
// one in upper case. HTTP_PROXY is never read, because a CGI program gets it
// from the header field Proxy of its client (CVE-2016-5386).
//
// getenv is called again for each target. A variable that is no proxy is an
// error for the targets that it is for.
func ProxyFromEnvironment(getenv func(string) string) ProxyFunc {
	env := proxy.ParseEnv(getenv)
	return func(t Target) (Proxy, error) {
		text, ok := env.For(t.Scheme, t.Host, t.Port)
		if !ok {
			return Proxy{}, nil
		}
		p, err := ParseProxy(text)
		if err != nil || p.isTarget(t) {
			return Proxy{}, err
		}
		return p, nil
	}
}

// reaches reports whether t is p itself, as the gateway of another scheme: it is
// not reached through itself.
func (p Proxy) isTarget(t Target) bool {
	if t.Scheme == "http" || t.Scheme == "https" {
		return false
	}
	own, err := TargetOf(p.URL, proxyPorts[p.URL.Scheme()])
	return err == nil && own.Host == t.Host && own.Port == t.Port
}

// ParseProxy reads [SCHEME://][USER:PASSWORD@]HOST[:PORT]. No scheme is http,
// and socks is socks4.
func ParseProxy(text string) (Proxy, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := uri.ParseZone(text)
	if err == nil && u.Scheme() == "socks" {
		parts := u.Parts()
		parts.Scheme = "socks4"
		u, err = uri.Build(parts)
	}
	if err != nil {
		return Proxy{}, Usage.Errorf("proxy: %w", err)
	}
	if _, ok := proxyPorts[u.Scheme()]; !ok {
		return Proxy{}, Unsupported.Errorf("no proxies of scheme %s: http, https, socks4, socks4a, socks5, socks5h", u.Scheme())
	}
	return Proxy{URL: u}, nil
}
