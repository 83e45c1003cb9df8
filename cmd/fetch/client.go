package main

import (
	"context"
	"os"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/wrap"
)

// clientFlags are the flags that all commands with network access share.
type clientFlags struct {
	retry    retryFlags
	limits   limitFlags
	policy   policyFlags
	proxy    proxyFlags
	gateway  gatewayFlags
	route    routeFlags
	login    loginFlags
	tls      tlsFlags
	startTLS startTLSFlags
	http     httpFlags
	ftp      ftpFlags
	mail     mailFlags
	nfs      nfsFlags
	ssh      sshFlags
	replay   replayFlags
	scheme   schemeFlags
}

func (f *clientFlags) register(s *options.Set) {
	f.registerConnection(s)
	f.replay.register(s)
}

// registerConnection registers the flags except those that read objects from
// archives.
func (f *clientFlags) registerConnection(s *options.Set) {
	f.retry.register(s)
	f.limits.register(s)
	f.policy.register(s)
	f.proxy.register(s)
	f.gateway.register(s)
	f.route.register(s)
	f.login.register(s)
	f.tls.register(s)
	f.startTLS.register(s)
	f.http.register(s)
	f.ftp.register(s)
	f.mail.register(s)
	f.nfs.register(s)
	f.ssh.register(s)
	f.scheme.register(s)
}

// schemes converts the flags to the options of the URL schemes.
func (f *clientFlags) schemes() (o schemes.Options, err error) {
	if o.HTTP, err = f.http.options(); err != nil {
		return o, err
	}
	if o.FTP, err = f.ftp.options(f.startTLS.mode(), f.http.ignoreLength); err != nil {
		return o, err
	}
	o.NNTP.Server, o.NNTP.ClearPassword, o.NNTP.TLS = f.mail.newsServer, f.mail.insecureAuth, f.startTLS.mode()
	if f.http.compressed {
		o.NNTP.Compress = nntp.CompressAlways
	}
	o.POP.TLS, o.POP.Mechanism = f.startTLS.mode(), f.mail.sasl
	o.SFTP = f.ssh.options(f.tls.key)
	o.Mail.Stores, o.Mail.Mechanism, o.Mail.TLS = f.mail.stores, f.mail.sasl, f.startTLS.mode()
	o.LDAP.TLS = f.startTLS.mode()
	if o.NFS, err = f.nfs.options(); err != nil {
		return o, err
	}
	return o, f.scheme.apply(&o)
}

// A clientSpec contains the settings of a Client that differ between commands.
type clientSpec struct {
	schemes       schemes.Options
	context       string             // URL of the message for cid URLs, or ""
	middlewares   []fetch.Middleware // outermost first; they enclose the middlewares of standard
	standard      wrap.Options       // middlewares of the library
	innermost     []fetch.Middleware // enclosed by the middlewares of standard; each attempt of a request calls them
	redirects     *redirectFlags     // limits of redirects, or nil for the defaults
	redirectLogin bool               // if true, look up targets of redirects in netrc
	transcript    bool               // if true, print the dialogs with servers
	policy        *fetch.Policy      // base policy, which the flags modify; nil means fetch.Typed()
	logins        *logins            // if not nil, overrides the logins that the flags select
}

// An openClient is a Client together with its credentials, its cookies and the
// WARC files from which it reads responses.
type openClient struct {
	*fetch.Client
	logins  *logins
	jar     *http.Jar
	archive *warc.Archive // source of responses, or nil for the network
	cookies *cookieFlags
	streams *console.Streams
}

// retryOptions returns the options of the Retry middleware. Responses from an
// archive are never requested again, because the result would be the same.
func (f *clientFlags) retryOptions(notify func(context.Context, wrap.Attempt)) wrap.RetryOptions {
	o := f.retry.options(notify)
	if len(f.replay.archives) > 0 {
		o.Attempts = 1
	}
	return o
}

// open returns a new Client with the options from the flags and from spec. The
// caller must close the Client.
func (f *clientFlags) open(ctx context.Context, s *console.Streams, spec clientSpec) (_ *openClient, err error) {
	c := &openClient{jar: spec.schemes.HTTP.Jar, cookies: &f.http.cookies, streams: s}
	spec.schemes.Mail.StoreLogin = func(ctx context.Context, challenge fetch.Challenge) (*fetch.Credential, error) {
		return c.logins.answer(ctx, challenge)
	}
	if s.CanPrompt() && (spec.logins == nil || !spec.logins.silent) {
		spec.schemes.SFTP.Passphrase = s.ReadPassphrase
	}
	if spec.context != "" {
		spec.schemes.Mail.In = func(ctx context.Context) (*fetch.Response, error) { return c.Get(ctx, spec.context) }
	}
	if err := f.proxy.askPassword(ctx, s); err != nil {
		return nil, err
	}
	proxy, err := f.proxy.proxyFunc(os.Getenv)
	if err != nil {
		return nil, err
	}
	all := schemes.All(spec.schemes)
	for i, scheme := range all {
		if spec.transcript && scheme.Traits.ControlConn {
			all[i] = transcribe(s, scheme)
		}
	}
	if all, err = f.gateway.apply(all, &f.proxy, proxy, f.startTLS.required || f.ftp.tlsControl); err != nil {
		return nil, err
	}
	if c.archive, err = f.replay.open(ctx, s); err != nil {
		return nil, err
	}
	if c.archive != nil {
		c.archive.Decode, c.archive.Raw = spec.schemes.HTTP.Compressed, spec.schemes.HTTP.Legacy.Raw
		all = c.archive.Schemes(append(all, replayOnly()...)...)
	}
	if spec.transcript {
		spec.middlewares = append(spec.middlewares, c.printExchanges)
	}
	o := fetch.Options{Proxy: proxy, Resolver: f.route.resolver()}
	base := fetch.Typed()
	if spec.policy != nil {
		base = *spec.policy
	}
	if o.Policy, err = f.policy.policy(base, &f.limits, all); err != nil {
		return nil, err
	}
	o.Policy.Blocked = f.route.blocked(o.Policy.Blocked)
	if spec.redirects != nil {
		spec.redirects.apply(&o.Policy)
	}
	if c.logins = spec.logins; c.logins == nil {
		if c.logins, err = f.login.open(s); err != nil {
			return nil, err
		}
	}
	outer := append(slices.Clip(spec.middlewares), c.logins.middleware)
	o.Wrap = slices.Concat(outer, wrap.Standard(spec.standard), spec.innermost)
	o.Login = c.logins.answer
	if spec.redirectLogin {
		o.RedirectLogin = c.logins.redirectLogin()
	}
	if o.Route, err = f.route.route(); err != nil {
		return nil, err
	}
	if o.LocalAddrs, err = f.route.localAddrs(ctx); err != nil {
		return nil, err
	}
	o.Socket = f.route.socket
	if o.TLS, err = f.tls.config(ctx, s); err != nil {
		return nil, err
	}
	c.Client = fetch.New(o, all...)
	return c, nil
}

// saveCookies writes all cookies to the file that --cookie-jar names.
func (c *openClient) saveCookies() error { return c.cookies.write(c.streams, c.jar) }

// close closes the Client and the WARC files from which it reads.
func (c *openClient) close() {
	c.Client.Close()
	if c.archive != nil {
		c.archive.Close()
	}
}
