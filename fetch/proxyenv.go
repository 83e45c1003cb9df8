package fetch

import (
	"strings"

	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

// ProxyFromEnvironment returns a ProxyFunc that uses the same environment
// variables as curl. The variable SCHEME_proxy, such as ftp_proxy, contains the
// proxy in the syntax of [ParseProxy]. If it is not set, all_proxy is used. The
// variable no_proxy lists the hosts that are connected directly.
//
// A variable in lower case takes precedence over the same variable in upper
// case. HTTP_PROXY is ignored, because a CGI program gets this variable from
// the header field Proxy of its client (CVE-2016-5386).
//
// The function getenv, usually os.Getenv, returns the value of a variable. The
// variables http_proxy, all_proxy and no_proxy are read once, and the others
// for each target. An invalid variable causes an error only for targets that
// use this variable.
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

// isTarget reports whether the target t is the proxy itself, which needs no
// proxy. It returns false for http and https targets.
func (p Proxy) isTarget(t Target) bool {
	if t.Scheme == "http" || t.Scheme == "https" {
		return false
	}
	own, err := TargetOf(p.URL, proxyPorts[p.URL.Scheme()])
	return err == nil && own.Host == t.Host && own.Port == t.Port
}

// ParseProxy parses a proxy in the form [SCHEME://][USER:PASSWORD@]HOST[:PORT].
// The default scheme is http. The scheme socks means socks4. The error has the
// Fault Usage or Unsupported.
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
		return Proxy{}, Unsupported.Errorf("proxy scheme %s is none of http, https, socks4, socks4a, socks5, socks5h", u.Scheme())
	}
	t, err := TargetOf(u, proxyPorts[u.Scheme()])
	if err == nil && t.Host == "" {
		err = BadURL.Errorf("URL has no host")
	}
	if err != nil {
		return Proxy{}, Usage.Errorf("proxy: %w", err)
	}
	return Proxy{URL: u}, nil
}
