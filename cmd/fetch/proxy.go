package main

import (
	"crypto/tls"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/pflag"
)

// proxyFlags choose the way to a server: curl's options.
type proxyFlags struct {
	url     string
	user    string
	noproxy *string // nil: the environment's
	tunnel  bool
	basic   bool
	digest  bool
	anyauth bool
	header  []string

	insecure bool // towards an https proxy
}

// proxyNames are the flags that name the proxy. The last one counts.
var proxyNames = []string{"proxy", "socks4", "socks4a", "socks5", "socks5-hostname"}

// noProxy is the url of --proxy "", which asks for none at all.
const noProxy = "none"

func (f *proxyFlags) register(p *pflag.FlagSet) {
	p.FuncP("proxy", "x", "go through `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`: http, https, socks4, socks4a, socks5, socks5h; \"\" is none", f.set(""))
	p.StringVarP(&f.user, "proxy-user", "U", "", "`USER:PASSWORD` for the proxy")
	p.Func("noproxy", "connect to the hosts of `LIST` without a proxy; replaces NO_PROXY; * is every host", func(list string) error {
		f.noproxy = &list
		return nil
	})
	p.BoolVarP(&f.tunnel, "proxytunnel", "p", false, "ask an http proxy for a tunnel for http URLs too")
	p.BoolVar(&f.basic, "proxy-basic", false, "prove the user to the proxy by Basic (the default)")
	p.BoolVar(&f.digest, "proxy-digest", false, "prove the user to the proxy by Digest")
	p.BoolVar(&f.anyauth, "proxy-anyauth", false, "prove the user to the proxy as it asks")
	p.StringArrayVar(&f.header, "proxy-header", nil, "send `FIELD` to the proxy alone")
	p.BoolVar(&f.insecure, "proxy-insecure", false, "do not verify an https proxy")
	p.Func("socks4", "go through the SOCKS4 proxy `HOST[:PORT]`", f.set("socks4://"))
	p.Func("socks4a", "go through the SOCKS4a proxy `HOST[:PORT]`", f.set("socks4a://"))
	p.Func("socks5", "go through the SOCKS5 proxy `HOST[:PORT]`", f.set("socks5://"))
	p.Func("socks5-hostname", "go through the SOCKS5 proxy `HOST[:PORT]`, which resolves the names", f.set("socks5h://"))
}

// set is what a flag does that names a proxy by what stands behind prefix.
func (f *proxyFlags) set(prefix string) func(string) error {
	return func(text string) error {
		if f.url = prefix + text; text == "" {
			f.url = noProxy
		}
		return nil
	}
}

// choose returns the ProxyFunc of flags and environment.
func (f *proxyFlags) choose(getenv func(string) string) (fetch.ProxyFunc, error) {
	if f.url != "" && f.url != noProxy {
		p, err := fetch.ParseProxy(f.url)
		if err == nil {
			_, err = f.complete(p)
		}
		if err != nil {
			return nil, err
		}
	}
	environment := fetch.ProxyFromEnvironment(f.over(getenv))
	return func(t fetch.Target) (fetch.Proxy, error) {
		p, err := environment(t)
		if err != nil || p.URL.IsZero() {
			return p, err
		}
		return f.complete(p)
	}, nil
}

// over returns getenv with the flags in the place of variables: a proxy that a
// flag names is for every scheme, and no_proxy still exempts hosts, unless
// --noproxy replaces it. An empty list exempts none.
func (f *proxyFlags) over(getenv func(string) string) func(string) string {
	return func(name string) string {
		switch lower := strings.ToLower(name); {
		case lower == "no_proxy" && f.noproxy != nil:
			return *f.noproxy
		case lower == "no_proxy" || f.url == "":
			return getenv(name)
		case lower == "all_proxy" && f.url != noProxy:
			return f.url
		}
		return ""
	}
}

// complete adds to p what flags say about every proxy.
func (f *proxyFlags) complete(p fetch.Proxy) (_ fetch.Proxy, err error) {
	p.Tunnel = f.tunnel
	if f.user != "" {
		if p.URL, err = withUser(p.URL, f.user); err != nil {
			return p, fetch.Usage.With(err)
		}
	}
	switch {
	case f.anyauth:
		p.Auth = fetch.ProxyAny
	case f.digest:
		p.Auth = fetch.ProxyDigest
	}
	if f.insecure {
		p.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	p.Header, err = fields(f.header)
	return p, err
}

// withUser puts USER:PASSWORD into u.
func withUser(u uri.URI, user string) (uri.URI, error) {
	name, password, has := strings.Cut(user, ":")
	keep := uri.Unreserved
	parts := u.Parts()
	parts.Userinfo, parts.HasUserinfo = uri.Escape(name, keep), true
	if has {
		parts.Userinfo += ":" + uri.Escape(password, keep)
	}
	return uri.Build(parts)
}

// fields reads header fields as curl's -H has them: "Name: value", "Name;" for
// one without a value, "Name:" to send none of that name, @FILE for a file of
// them.
func fields(list []string) (fetch.Header, error) {
	var h fetch.Header
	for _, text := range list {
		if file, ok := strings.CutPrefix(text, "@"); ok {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, fetch.Local.With(err)
			}
			more, err := fields(strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' || r == '\r' }))
			if err != nil {
				return nil, err
			}
			h = append(h, more...)
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case ok && value == "" && !ours(name):
			continue // nothing of that name would be sent
		case !ok:
			if name, ok = strings.CutSuffix(text, ";"); !ok {
				continue // as curl does with what is no field
			}
		}
		if strings.ContainsAny(name, " \t") {
			continue // no name of a field
		}
		h = append(h, fetch.Field{Name: name, Value: value})
	}
	return h, nil
}

// ours reports whether a field is sent unasked.
func ours(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "accept", "user-agent", "host", "referer", "accept-encoding", "authorization", "cookie", "range", "proxy-connection", "connection":
		return true
	}
	return false
}
