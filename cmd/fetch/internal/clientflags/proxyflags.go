package clientflags

import (
	"context"
	"crypto/tls"
	"io"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/cmd/fetch/internal/tlsfiles"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/negotiate"
	"github.com/anyurl/fetch/uri"
)

// proxyFlags are the flags that select the proxy.
type proxyFlags struct {
	url        string
	first      string // SOCKS proxy before the HTTP proxy, or ""
	user       string
	noproxy    *string // nil: use the environment
	tunnel     bool
	basic      bool
	digest     bool
	anyauth    bool
	header     []string
	tls        tlsfiles.Settings
	negotiate  bool
	negotiator *negotiate.Authenticator // nil without negotiate
	config     *tls.Config              // of https proxies, after openTLS
}

// noProxy is the value of proxyFlags.url that disables proxies (--proxy "").
const noProxy = "none"

func (f *proxyFlags) register(s *options.Set) {
	p := s.Section("Connections and proxies")
	p.FuncP("proxy", "x", "use the HTTP or SOCKS proxy at `URL`, such as socks5h://HOST:PORT", f.set(""))
	p.Func("preproxy", "use the SOCKS proxy at `URL` to connect to the HTTP proxy", f.setFirst)
	p.StringVarP(&f.user, "proxy-user", "U", "", "log in to the proxy as `USER:PASSWORD` (prompts for the password)")
	p.Func("noproxy", "connect to the hosts in `LIST` without a proxy (* for all hosts)", func(list string) error {
		f.noproxy = &list
		return nil
	})
	p.BoolVarP(&f.tunnel, "proxytunnel", "p", false, "tunnel http and ftp URLs through the proxy (CONNECT)")
	p.BoolVar(&f.basic, "proxy-basic", false, "use Basic authentication for the proxy (default)")
	p.BoolVar(&f.digest, "proxy-digest", false, "use Digest authentication for the proxy")
	p.BoolVar(&f.anyauth, "proxy-anyauth", false, "use the strongest authentication method that the proxy offers")
	p.BoolVar(&f.negotiate, "proxy-negotiate", false, "use Kerberos authentication for the proxy")
	p.StringArrayVar(&f.header, "proxy-header", nil, "send the header `FIELD` only to the proxy")
	p.BoolVar(&f.tls.Insecure, "proxy-insecure", false, "skip certificate verification of https proxies (insecure)")
	requiredVar(p, &f.tls.CACert, "proxy-cacert", "trust only the CA certificates in `FILE` for https proxies")
	requiredVar(p, &f.tls.CAPath, "proxy-capath", "trust only the CA certificates in `DIR` for https proxies")
	p.BoolVar(&f.tls.CANative, "proxy-ca-native", false, "also trust the CA certificates of the system for https proxies")
	requiredVar(p, &f.tls.CRL, "proxy-crlfile", "reject proxies whose certificates the lists in `FILE` revoke")
	p.StringVar(&f.tls.Cert, "proxy-cert", "", "use the client certificate in `FILE` for https proxies")
	p.StringVar(&f.tls.Key, "proxy-key", "", "use the private key in `FILE` for --proxy-cert")
	p.StringVar(&f.tls.Pass, "proxy-pass", "", "decrypt the key of --proxy-cert with `PASSPHRASE`")
	requiredVar(p, &f.tls.Pinned, "proxy-pinnedpubkey", "`HASHES`: require one of these public keys of https proxies")
	p.Func("socks4", "use the SOCKS4 proxy `HOST[:PORT]`", f.set("socks4://"))
	p.Func("socks4a", "use the SOCKS4a proxy `HOST[:PORT]` (it resolves host names)", f.set("socks4a://"))
	p.Func("socks5", "use the SOCKS5 proxy `HOST[:PORT]`", f.set("socks5://"))
	p.Func("socks5-hostname", "use a SOCKS5 proxy at `HOST` that resolves host names", f.set("socks5h://"))
}

// set returns the function that handles a proxy flag. The function stores the
// URL of the proxy, which is prefix followed by the argument. The last proxy
// flag on the command line takes effect.
func (f *proxyFlags) set(prefix string) func(string) error {
	return func(text string) error {
		if f.url = prefix + text; text == "" {
			f.url = noProxy
		}
		return nil
	}
}

// setFirst handles --preproxy. As in curl, the default scheme is socks4.
func (f *proxyFlags) setFirst(text string) error {
	if text != "" && !strings.Contains(text, "://") {
		text = "socks4://" + text
	}
	f.first = text
	return nil
}

// askPassword prompts the user for the password of the proxy, if a flag names
// only a user. SOCKS4 has no passwords.
func (f *proxyFlags) askPassword(ctx context.Context, s *console.Streams) error {
	if f.url == "" && f.user == "" || strings.HasPrefix(f.url, "socks4") {
		return nil
	}
	user, _, has := strings.Cut(f.user, ":")
	if f.user == "" {
		p, err := fetch.ParseProxy(f.url)
		if err != nil || f.url == noProxy {
			return nil // proxyFunc reports the error
		}
		if user, _, has = p.URL.User(); user == "" || has {
			return nil
		}
		if user, err = uri.Unescape(user); err != nil {
			return fetch.Usage.With(err)
		}
	}
	if has {
		return nil
	}
	if !terminal.Is(s.Stdin) {
		return fetch.Auth.Errorf("no password for %s at the proxy: use a terminal, or proxy-user in config.toml", user)
	}
	password, err := s.ReadSecret(ctx, "Password for "+user+" at the proxy: ")
	f.user = user + ":" + password.Reveal()
	return err
}

// openTLS reads the files of the flags for https proxies. Without such flags, a
// proxy has the authorities, the revocation lists and the versions of servers.
// The flag -k does not apply, because a proxy that is not verified could read
// the password of the proxy. Pinned keys belong to one server.
func (f *proxyFlags) openTLS(ctx context.Context, s *console.Streams, servers tlsfiles.Settings) (err error) {
	settings := f.tls
	if settings == (tlsfiles.Settings{}) {
		settings = tlsfiles.Settings{CACert: servers.CACert, CAPath: servers.CAPath, CANative: servers.CANative, CRL: servers.CRL,
			Min: servers.Min, Max: servers.Max}
	}
	if f.config, err = settings.Config(ctx, tlsConsole(s)); f.config == nil {
		f.config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return err
}

// logKeys writes the secrets of the connections to https proxies to w.
func (f *proxyFlags) logKeys(w io.Writer) { f.config = tlsfiles.WithKeyLog(f.config, w) }

// proxyFunc returns a function that selects the proxy for a host. It uses the
// flags and the environment variables.
func (f *proxyFlags) proxyFunc(getenv func(string) string) (fetch.ProxyFunc, error) {
	if f.url != "" && f.url != noProxy {
		p, err := fetch.ParseProxy(f.url)
		if err == nil {
			_, err = f.configure(p)
		}
		if err != nil {
			return nil, err
		}
	}
	first, err := f.firstProxy(getenv)
	if err != nil {
		return nil, err
	}
	environment := fetch.ProxyFromEnvironment(f.environment(getenv, f.url))
	return func(t fetch.Target) (fetch.Proxy, error) {
		p, err := environment(t)
		if err != nil {
			return p, err
		}
		before, err := first(t)
		switch {
		case err != nil || p.URL.IsZero():
			return before, err
		case !before.URL.IsZero():
			p.First = before.URL
		}
		return f.configure(p)
	}, nil
}

// firstProxy returns a function that selects the proxy of --preproxy. It returns
// the zero Proxy for hosts that --noproxy or no_proxy excludes. As in curl, a
// target without another proxy uses only this one.
func (f *proxyFlags) firstProxy(getenv func(string) string) (fetch.ProxyFunc, error) {
	if f.first == "" {
		return func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{}, nil }, nil
	}
	p, err := fetch.ParseProxy(f.first)
	if err == nil && !strings.HasPrefix(p.URL.Scheme(), "socks") {
		err = fetch.Unsupported.Errorf("not a SOCKS proxy: %s", p.URL)
	}
	if err != nil {
		return nil, fetch.FaultOf(err).Errorf("--preproxy: %w", err)
	}
	return fetch.ProxyFromEnvironment(f.environment(getenv, f.first)), nil
}

// environment returns a replacement for getenv in which --proxy and --noproxy
// override the proxy variables. The proxy, which may be "", applies to every
// scheme. Hosts in no_proxy are exempt unless --noproxy is set.
func (f *proxyFlags) environment(getenv func(string) string, proxy string) func(string) string {
	return func(name string) string {
		switch lower := strings.ToLower(name); {
		case lower == "no_proxy" && f.noproxy != nil:
			return *f.noproxy
		case lower == "no_proxy", proxy == "":
			return getenv(name)
		case lower == "all_proxy" && proxy != noProxy:
			return proxy
		}
		return ""
	}
}

// configure sets the credentials, header fields and TLS options of the proxy p.
func (f *proxyFlags) configure(p fetch.Proxy) (_ fetch.Proxy, err error) {
	p.Tunnel = f.tunnel
	if f.negotiator != nil && strings.HasPrefix(p.URL.Scheme(), "socks") {
		return p, fetch.Unsupported.Errorf("--proxy-negotiate works only with http and https proxies: %s", p.URL)
	}
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
	p.TLS = f.config
	if f.negotiator != nil {
		p.Negotiate = negotiateWith(f.negotiator, p)
	}
	p.Header, err = parseFields(f.header)
	return p, err
}

// withUser adds the credentials in user, which has the format USER:PASSWORD, to
// the URL u.
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
