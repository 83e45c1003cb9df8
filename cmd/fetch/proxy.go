package main

import (
	"crypto/tls"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/proxy"
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

// choose is the ProxyFunc of flags and environment. A proxy that a flag names
// is for every scheme, and no_proxy of the environment still exempts hosts.
func (f *proxyFlags) choose(getenv func(string) string) (fetch.ProxyFunc, error) {
	env := f.env(getenv)
	var named fetch.Proxy
	if text := f.named(); text != "" {
		var err error
		if named, err = f.proxy(text); err != nil {
			return nil, err
		}
	}
	return func(t fetch.Target) (fetch.Proxy, error) {
		p := named
		if p.URL.IsZero() && !f.empty() {
			text, ok := env.For(t.Scheme, t.Host, t.Port)
			if !ok {
				return p, nil
			}
			var err error
			if p, err = f.proxy(text); err != nil {
				return p, err
			}
		}
		if env.Direct(t.Host, t.Port) || isProxy(p, t) {
			return fetch.Proxy{}, nil
		}
		return p, nil
	}, nil
}

// env reads the environment. --noproxy replaces its list of exemptions; an
// empty list clears it.
func (f *proxyFlags) env(getenv func(string) string) proxy.Env {
	env := proxy.ParseEnv(getenv)
	if f.noproxy != nil {
		env = env.WithNoProxy(*f.noproxy)
	}
	return env
}

// isProxy reports whether t is p itself as the gateway of another scheme: it is
// not reached through itself.
func isProxy(p fetch.Proxy, t fetch.Target) bool {
	if p.URL.IsZero() || t.Scheme == "http" || t.Scheme == "https" {
		return false
	}
	own, err := fetch.TargetOf(p.URL, 1080)
	return err == nil && own.Host == t.Host && own.Port == t.Port
}

// empty reports whether no proxy is wanted, those of the environment neither.
func (f *proxyFlags) empty() bool { return f.url == noProxy }

func (f *proxyFlags) named() string {
	if f.empty() {
		return ""
	}
	return f.url
}

// proxy reads [SCHEME://][USER:PASSWORD@]HOST[:PORT].
func (f *proxyFlags) proxy(text string) (fetch.Proxy, error) {
	p := fetch.Proxy{Tunnel: f.tunnel}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := uri.ParseZone(text)
	if err != nil {
		return p, fetch.Usage.Errorf("proxy: %w", err)
	}
	switch u.Scheme() {
	case "http", "https", "socks4", "socks4a", "socks5", "socks5h":
	case "socks":
		u, err = withScheme(u, "socks4")
	default:
		return p, fetch.Unsupported.Errorf("no proxies of scheme %s: http, https, socks4, socks4a, socks5, socks5h", u.Scheme())
	}
	if err == nil && f.user != "" {
		u, err = withUser(u, f.user)
	}
	if err != nil {
		return p, fetch.Usage.With(err)
	}
	p.URL = u
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

func withScheme(u uri.URI, scheme string) (uri.URI, error) {
	parts := u.Parts()
	parts.Scheme = scheme
	return uri.Build(parts)
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
