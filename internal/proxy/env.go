package proxy

import "strings"

// An Env is what the environment says about proxies, as curl reads it. The
// zero Env names none.
type Env struct {
	get    func(string) string
	direct []exemption
}

// ParseEnv reads the environment through getenv, which is os.Getenv or like
// it: an empty variable is one that is not set. It is called again for each
// scheme that For is asked about. Of no_proxy and NO_PROXY, as of all pairs,
// the lower case comes first.
func ParseEnv(getenv func(string) string) Env {
	e := Env{get: getenv}
	e.direct = parseNoProxy(e.either("no_proxy"))
	return e
}

// For returns the proxy for URLs of that scheme at host and port, as the
// environment spells it: [SCHEME://][USER:PASSWORD@]HOST[:PORT]. It comes from
// SCHEME_proxy or else all_proxy, and is none for hosts that no_proxy names.
// HTTP_PROXY in upper case is not read: in a CGI program it is what the client
// sent as its field Proxy (CVE-2016-5386).
func (e Env) For(scheme, host string, port uint16) (proxy string, ok bool) {
	if e.get == nil || strings.EqualFold(scheme, "file") {
		return "", false
	}
	if name := strings.ToLower(scheme) + "_proxy"; name == "http_proxy" {
		proxy = e.http()
	} else {
		proxy = e.either(name)
	}
	if proxy == "" {
		proxy = e.either("all_proxy")
	}
	if proxy == "" || exempt(e.direct, host, port) {
		return "", false
	}
	return proxy, true
}

// Direct reports whether no_proxy exempts host and port from every proxy,
// also from one that the environment does not name.
func (e Env) Direct(host string, port uint16) bool { return exempt(e.direct, host, port) }

// WithNoProxy returns e with list in the place of no_proxy; an empty list
// exempts nobody.
func (e Env) WithNoProxy(list string) Env {
	e.direct = parseNoProxy(list)
	return e
}

// http reads http_proxy, unless this is a CGI program on a system that does
// not tell the two cases apart.
func (e Env) http() string {
	proxy := e.get("http_proxy")
	if e.get("REQUEST_METHOD") != "" && proxy == e.get("HTTP_PROXY") {
		return ""
	}
	return proxy
}

func (e Env) either(name string) string {
	if value := e.get(name); value != "" {
		return value
	}
	return e.get(strings.ToUpper(name))
}
