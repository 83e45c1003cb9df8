package proxy

import "strings"

// An Env has the proxy settings of environment variables, with the same rules
// as in curl. The zero Env has no proxies.
type Env struct {
	getenv     func(string) string
	http       string // proxy for http URLs
	all        string // proxy for schemes without a variable of their own
	exemptions []exemption
}

// ParseEnv returns the proxy settings of the environment. getenv is os.Getenv
// or a similar function. An empty variable counts as unset. A variable in lower
// case, such as no_proxy, overrides the variable in upper case. The method For
// calls getenv for schemes other than http.
func ParseEnv(getenv func(string) string) Env {
	e := Env{getenv: getenv}
	e.http = e.httpProxy()
	e.all = e.lookup("all_proxy")
	e.exemptions = parseNoProxy(e.lookup("no_proxy"))
	return e
}

// For returns the proxy for URLs with this scheme, host and port, in the form
// [SCHEME://][USER:PASSWORD@]HOST[:PORT]. It is the value of SCHEME_proxy or,
// if that is unset, of all_proxy. For returns false if there is no proxy or
// no_proxy matches the host. It ignores HTTP_PROXY in upper case, because CGI
// programs receive the Proxy field of the client in this variable
// (CVE-2016-5386).
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

// httpProxy returns the value of http_proxy. It returns "" in a CGI program if
// variable names are not case-sensitive, as on Windows.
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
