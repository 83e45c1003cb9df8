package proxy

import "strings"

// An Env is what the environment says about proxies, as curl reads it. The
// zero Env names none.
type Env struct {
	getenv     func(string) string
	http       string // for http URLs
	all        string // for every scheme that has none of its own
	exemptions []exemption
}

// ParseEnv reads the environment through getenv, which is os.Getenv or like
// it: an empty variable is one that is not set. For calls it again for schemes
// other than http. Of no_proxy and NO_PROXY, as of all pairs, the lower case
// comes first.
func ParseEnv(getenv func(string) string) Env {
	e := Env{getenv: getenv}
	e.http = e.httpProxy()
	e.all = e.lookup("all_proxy")
	e.exemptions = parseNoProxy(e.lookup("no_proxy"))
	return e
}

// For returns the proxy for URLs of that scheme at host and port, as the
// environment spells it: [SCHEME://][USER:PASSWORD@]HOST[:PORT]. It comes from
// SCHEME_proxy or else all_proxy, and is none for hosts that no_proxy names.
// HTTP_PROXY in upper case is not read: in a CGI program it is what the client
// sent as its field Proxy (CVE-2016-5386).
func (e Env) For(scheme, host string, port uint16) (proxy string, ok bool) {
	switch scheme = strings.ToLower(scheme); {
	case e.getenv == nil, scheme == "file":
		return "", false
	case scheme == "http":
		proxy = e.http
	default:
		proxy = e.lookup(scheme + "_proxy")
	}
	if proxy == "" {
		proxy = e.all
	}
	if proxy == "" || exempt(e.exemptions, host, port) {
		return "", false
	}
	return proxy, true
}

// forHTTP reads http_proxy, unless this is a CGI program on a system that does
// not tell the two cases apart.
func (e Env) httpProxy() string {
	proxy := e.getenv("http_proxy")
	if e.getenv("REQUEST_METHOD") != "" && proxy == e.getenv("HTTP_PROXY") {
		return ""
	}
	return proxy
}

func (e Env) lookup(name string) string {
	if value := e.getenv(name); value != "" {
		return value
	}
	return e.getenv(strings.ToUpper(name))
}
