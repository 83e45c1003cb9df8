package proxy

import "strings"

// An Env holds the proxy settings from environment variables such as http_proxy
// and no_proxy. It follows the rules of curl. The zero Env selects no proxies.
type Env struct {
	getenv     func(string) string
	http       string // proxy for http URLs
	all        string // proxy for schemes without a variable of their own
	exemptions []exemption
}

// ParseEnv parses the proxy settings from environment variables. The caller
// usually passes os.Getenv as getenv. An empty variable counts as unset. A
// variable in lower case, such as no_proxy, overrides the variable in upper
// case. [Env.For] calls getenv again for schemes other than http.
func ParseEnv(getenv func(string) string) Env {
	e := Env{getenv: getenv}
	e.http = e.httpProxy()
	e.all = e.lookup("all_proxy")
	e.exemptions = parseNoProxy(e.lookup("no_proxy"))
	return e
}

// For returns the proxy for URLs with the given scheme, host and port. The
// proxy has the form [SCHEME://][USER:PASSWORD@]HOST[:PORT]. It is the value of
// SCHEME_proxy, or of all_proxy if SCHEME_proxy is unset. For returns false if
// no proxy is set or no_proxy matches the host. It ignores HTTP_PROXY in upper
// case, because a client of a CGI program can set this variable with the Proxy
// header field (CVE-2016-5386).
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

// httpProxy returns the value of http_proxy. In a CGI program, it returns "" if
// HTTP_PROXY has the same value. On Windows, both names denote one variable,
// which the clients of a CGI program can set.
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
