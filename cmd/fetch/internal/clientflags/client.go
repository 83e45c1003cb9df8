// Package clientflags has the flags of all commands that use the network, and
// opens the Client that they describe.
package clientflags

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/tlsfiles"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/h3"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/wrap"
)

// Flags are the flags that all commands with network access share.
type Flags struct {
	Retry    retryFlags
	Limits   limitFlags
	Policy   policyFlags
	proxy    proxyFlags
	gateway  gatewayFlags
	route    routeFlags
	dns      dnsFlags
	ech      echFlags
	sockets  socketFlags
	Login    LoginFlags
	TLS      tlsFlags
	startTLS startTLSFlags
	HTTP     HTTPFlags
	ftp      ftpFlags
	Mail     mailFlags
	nfs      nfsFlags
	s3       s3Flags
	ipfs     ipfsFlags
	ssh      sshFlags
	Replay   ReplayFlags
	scheme   schemeFlags
}

func (f *Flags) Register(s *options.Set) {
	f.RegisterConnection(s)
	f.Replay.Register(s)
}

// RegisterConnection registers the flags except those that read objects from
// archives.
func (f *Flags) RegisterConnection(s *options.Set) {
	f.Retry.register(s)
	f.Limits.register(s)
	f.Policy.register(s)
	f.proxy.register(s)
	f.gateway.register(s)
	f.route.register(s)
	f.dns.register(s)
	f.sockets.register(s)
	f.ech.register(s)
	f.Login.register(s)
	f.TLS.register(s)
	f.startTLS.register(s)
	f.HTTP.register(s)
	f.ftp.register(s)
	f.Mail.register(s)
	f.nfs.register(s)
	f.s3.register(s)
	f.ipfs.register(s)
	f.ssh.register(s)
	f.scheme.register(s)
}

// RegisterTransport registers the flags for connections and their limits, for a
// command whose requests come from other programs.
func (f *Flags) RegisterTransport(s *options.Set) {
	f.Limits.register(s)
	f.Policy.register(s)
	f.proxy.register(s)
	f.route.register(s)
	f.dns.register(s)
	f.sockets.register(s)
	f.ech.register(s)
	f.TLS.register(s)
}

// RemoveUser removes the logins, cookies, keys and certificates of the user from
// the flags, for the requests of other users.
func (f *Flags) RemoveUser() {
	f.Login, f.HTTP.Cookies, f.Mail.Stores = LoginFlags{}, CookieFlags{}, nil
	f.TLS.Cert, f.TLS.Key, f.TLS.Pass = "", "", ""
	f.s3.anonymous, f.ftp.account, f.nfs.user = true, "", ""
}

// Schemes converts the flags to the options of the URL schemes.
func (f *Flags) Schemes() (o schemes.Options, err error) {
	if o.HTTP, err = f.HTTP.options(); err != nil {
		return o, err
	}
	o.HTTP.HTTP3 = f.HTTP.selectHTTP3(h3.Options{HeadStart: f.sockets.headStart()})
	if o.FTP, err = f.ftp.options(f.startTLS.mode(), f.HTTP.ignoreLength); err != nil {
		return o, err
	}
	o.NNTP.Server, o.NNTP.ClearPassword, o.NNTP.TLS = f.Mail.NewsServer, f.Mail.insecureAuth, f.startTLS.mode()
	if f.HTTP.compressed {
		o.NNTP.Compress = nntp.CompressAlways
	}
	o.POP.TLS, o.POP.Mechanism = f.startTLS.mode(), f.Mail.sasl
	o.SFTP = f.ssh.options(f.TLS.Key)
	o.Mail.Stores, o.Mail.Mechanism, o.Mail.TLS = f.Mail.Stores, f.Mail.sasl, f.startTLS.mode()
	o.LDAP.TLS = f.startTLS.mode()
	o.S3 = f.s3.options(o.HTTP)
	o.IPFS = f.ipfs.options(o.HTTP)
	if o.NFS, err = f.nfs.options(); err != nil {
		return o, err
	}
	return o, f.scheme.apply(&o)
}

// A Spec contains the settings of a Client that differ between commands.
type Spec struct {
	Schemes       schemes.Options
	Context       string             // URL of the message for cid URLs, or ""
	Middlewares   []fetch.Middleware // outermost first; they enclose the middlewares of standard
	Standard      wrap.Options       // middlewares of the library
	Innermost     []fetch.Middleware // enclosed by the middlewares of standard; each attempt of a request calls them
	Object        *HTTPObjectFlags   // flags for single http objects, or nil
	HSTS          *HSTSFlags         // hosts for which https replaces http, or nil
	Redirects     *RedirectFlags     // limits of redirects, or nil for the defaults
	RedirectLogin bool               // if true, look up targets of redirects in netrc
	Transcript    bool               // if true, print the dialogs with servers
	Policy        *fetch.Policy      // base policy, which the flags modify; nil means fetch.Typed()
	Logins        *Logins            // if not nil, overrides the logins that the flags select

	// LoginServer reports whether a server may get a login although another
	// server supplied the URL. If it is nil, links within every server may.
	LoginServer func(fetch.Origin) bool
}

// An OpenClient is a Client together with its credentials, its cookies and the
// WARC files from which it reads responses.
type OpenClient struct {
	*fetch.Client
	Logins  *Logins
	jar     *http.Jar
	Archive *warc.Archive // source of responses, or nil for the network
	cookies *CookieFlags
	saves   []func() error // save the state of the Client, such as hosts with HSTS
	streams *console.Streams
	proxy   fetch.ProxyFunc

	keyLog   io.WriteCloser // file of SSLKEYLOGFILE, or nil
	resolver io.Closer      // closes the connections for DNS queries, or nil
}

// RetryOptions returns the options of the Retry middleware. Responses from an
// archive are never requested again, because the result would be the same.
func (f *Flags) RetryOptions(notify func(context.Context, wrap.Attempt)) wrap.RetryOptions {
	o := f.Retry.Options(notify)
	if len(f.Replay.Archives) > 0 {
		o.Attempts = 1
	}
	return o
}

// Open returns a new Client with the options from the flags and from spec. The
// caller must close the Client.
func (f *Flags) Open(ctx context.Context, s *console.Streams, spec Spec) (_ *OpenClient, err error) {
	c := &OpenClient{jar: spec.Schemes.HTTP.Jar, cookies: &f.HTTP.Cookies, streams: s}
	f.setPrompts(c, &spec)
	proxy, err := f.openProxy(ctx, s, &spec)
	if err != nil {
		return nil, err
	}
	c.proxy = proxy
	if err := f.HTTP.signRequests(&spec); err != nil {
		return nil, err
	}
	c.useHTTP3(f, &spec)
	if err := c.useECH(f, &spec); err != nil {
		return nil, err
	}
	if spec.Object != nil && len(f.Replay.Archives) == 0 {
		if err := c.useAltSvc(f, spec.Object, &spec); err != nil {
			return nil, err
		}
	}
	all, err := f.openSchemes(ctx, c, spec, proxy)
	if err != nil {
		return nil, err
	}
	o := fetch.Options{Proxy: proxy}
	if err := f.applyPolicy(ctx, c, spec, all, &o); err != nil {
		return nil, err
	}
	if err := f.applyMiddlewares(c, spec, &o); err != nil {
		return nil, err
	}
	if err := f.applyConnections(ctx, c, &o); err != nil {
		return nil, err
	}
	c.Client = fetch.New(o, all...)
	return c, nil
}

// setPrompts sets the functions of spec that request credentials, or a message
// for cid URLs, while c is in use.
func (f *Flags) setPrompts(c *OpenClient, spec *Spec) {
	spec.Schemes.Mail.StoreLogin = func(ctx context.Context, challenge fetch.Challenge) (*fetch.Credential, error) {
		return c.Logins.answer(ctx, challenge)
	}
	switch {
	case f.TLS.Pass != "":
		spec.Schemes.SFTP.Passphrase = func(context.Context, string) (fetch.Secret, error) { return fetch.Secret(f.TLS.Pass), nil }
	case c.streams.CanPrompt() && (spec.Logins == nil || !spec.Logins.Silent):
		spec.Schemes.SFTP.Passphrase = c.streams.ReadPassphrase
	}
	if message := spec.Context; message != "" {
		spec.Schemes.Mail.In = func(ctx context.Context) (*fetch.Response, error) { return c.Get(ctx, message) }
	}
}

// openProxy returns the function that selects the proxy. It prompts for the
// password of the proxy, and sets the Negotiator of spec.
func (f *Flags) openProxy(ctx context.Context, s *console.Streams, spec *Spec) (fetch.ProxyFunc, error) {
	if err := f.proxy.askPassword(ctx, s); err != nil {
		return nil, err
	}
	if err := f.proxy.openTLS(ctx, s, f.TLS.settings()); err != nil {
		return nil, err
	}
	negotiator, err := f.openNegotiator()
	if err != nil {
		return nil, err
	}
	if negotiator != nil {
		spec.Schemes.HTTP.Negotiator = negotiator
	}
	return f.proxy.proxyFunc(os.Getenv)
}

// openSchemes returns all schemes, with the gateways of the flags. If --archive
// is set, their responses come from c.Archive, which it opens.
func (f *Flags) openSchemes(ctx context.Context, c *OpenClient, spec Spec, proxy fetch.ProxyFunc) (all []fetch.Scheme, err error) {
	all = schemes.All(spec.Schemes)
	for i, scheme := range all {
		all[i] = f.ech.restrict(scheme)
		if spec.Transcript && scheme.Traits.ControlConn {
			all[i] = transcribe(c.streams, all[i])
		}
	}
	if all, err = f.gateway.apply(all, &f.proxy, proxy, f.startTLS.required || f.ftp.tlsControl); err != nil {
		return nil, err
	}
	if c.Archive, err = f.Replay.Open(ctx, c.streams); err != nil {
		return nil, err
	}
	if c.Archive != nil {
		c.Archive.Decode, c.Archive.Raw = spec.Schemes.HTTP.Compressed, spec.Schemes.HTTP.Legacy.Raw
		all = c.Archive.Schemes(append(all, replayOnly()...)...)
	}
	return all, nil
}

// applyPolicy sets the policy and the resolver in o.
func (f *Flags) applyPolicy(ctx context.Context, c *OpenClient, spec Spec, all []fetch.Scheme, o *fetch.Options) (err error) {
	base := fetch.Typed()
	if spec.Policy != nil {
		base = *spec.Policy
	}
	if o.Policy, err = f.Policy.policy(base, &f.Limits, all); err != nil {
		return err
	}
	o.Policy.Blocked = f.route.blocked(o.Policy.Blocked)
	if o.Resolver, c.resolver, err = f.openResolver(ctx, c.streams, o.Policy); err != nil {
		return err
	}
	if spec.Redirects != nil {
		spec.Redirects.apply(&o.Policy)
	}
	return nil
}

// applyMiddlewares sets the middlewares and the logins in o.
func (f *Flags) applyMiddlewares(c *OpenClient, spec Spec, o *fetch.Options) (err error) {
	if c.Logins = spec.Logins; c.Logins == nil {
		if c.Logins, err = f.Login.Open(c.streams); err != nil {
			return err
		}
	}
	outer := slices.Clip(spec.Middlewares)
	if spec.Transcript {
		outer = append(outer, c.printExchanges)
	}
	outer = append(outer, c.Logins.middleware)
	o.Wrap = slices.Concat(outer, wrap.Standard(spec.Standard), spec.Innermost)
	o.Login = c.Logins.answer
	if permits := spec.LoginServer; permits != nil {
		o.Login = func(ctx context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
			if !ch.Typed && !permits(ch.Origin) {
				return nil, nil
			}
			return c.Logins.answer(ctx, ch)
		}
	}
	if spec.RedirectLogin {
		o.RedirectLogin = c.Logins.redirectLogin()
	}
	if spec.HSTS != nil && c.Archive == nil {
		return c.useHSTS(spec.HSTS, o)
	}
	return nil
}

// applyConnections sets the routes, the addresses and the TLS settings of
// connections in o.
func (f *Flags) applyConnections(ctx context.Context, c *OpenClient, o *fetch.Options) (err error) {
	if o.Route, err = f.route.route(); err != nil {
		return err
	}
	if o.LocalAddrs, err = f.route.localAddrs(ctx, o.Resolver); err != nil {
		return err
	}
	o.Socket = f.route.socket
	if err := f.sockets.apply(o); err != nil {
		return err
	}
	if o.TLS, err = f.TLS.settings().Config(ctx, tlsConsole(c.streams)); err != nil {
		return err
	}
	switch c.keyLog, err = tlsfiles.OpenKeyLog(os.Getenv(tlsfiles.KeyLogVariable)); {
	case err != nil:
		c.streams.Note("%s: %v", tlsfiles.KeyLogVariable, err)
	case c.keyLog != nil:
		o.TLS = tlsfiles.WithKeyLog(o.TLS, c.keyLog)
		f.proxy.logKeys(c.keyLog)
	}
	return nil
}

// SaveState writes the files that flags such as --cookie-jar and --hsts name.
func (c *OpenClient) SaveState() error {
	err := c.cookies.write(c.streams, c.jar)
	for _, save := range c.saves {
		err = errors.Join(err, save())
	}
	return err
}

// Close closes the Client and the WARC files from which it reads.
func (c *OpenClient) Close() {
	c.Client.Close()
	if c.Archive != nil {
		c.Archive.Close()
	}
	for _, closer := range []io.Closer{c.keyLog, c.resolver} {
		if closer != nil {
			closer.Close()
		}
	}
}
