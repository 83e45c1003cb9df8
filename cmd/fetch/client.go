package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/wrap"
)

// client builds the Client that the flags ask for.
func (a *app) client() (*fetch.Client, error) {
	f := &a.flags
	a.heard = a.trace()
	options, err := f.schemes()
	if err != nil {
		return nil, err
	}
	options.FTP.LF = options.FTP.LF && !a.native
	var client *fetch.Client
	options.Mail = a.mailOptions(func() *fetch.Client { return client })
	if options.Gopher, err = a.gopherOptions(); err != nil {
		return nil, err
	}
	if options.Telnet, err = f.talk.options(); err != nil {
		return nil, err
	}
	if in, ok := a.stdin.(*os.File); ok && isTerminal(in) && terminal(a.stdout) {
		a.console = &console{in: in}
		options.Telnet.Mode = a.console.set
	}
	if a.archiving && options.NNTP.Marks == nil {
		options.NNTP.Marks = &nntp.Marks{}
	}
	options.WAIS.All = a.archiving
	a.jar, a.marks = options.HTTP.Jar, options.NNTP.Marks
	proxy, err := f.proxy.choose(os.Getenv)
	if err != nil {
		return nil, err
	}
	all := schemes.All(options)
	for i, s := range all {
		if f.verbose && !a.archiving && s.Traits.ControlConn {
			all[i] = a.conversing(s)
		}
	}
	if all, err = f.gateways(all, proxy); err != nil {
		return nil, err
	}
	if all, err = a.replayed(all); err != nil {
		return nil, err
	}
	policy, err := f.policy(all)
	if err != nil {
		return nil, err
	}
	if a.who, err = a.logins(); err != nil {
		return nil, err
	}
	route, err := f.route.route()
	if err != nil {
		return nil, err
	}
	tls, err := f.tls.config()
	if err != nil {
		return nil, err
	}
	client = fetch.New(fetch.Options{
		Policy: policy, Wrap: a.middlewares(), Proxy: proxy, Login: a.who.answer,
		RedirectLogin: a.redirectLogin(), Route: route, Resolver: f.route.resolver(), TLS: tls,
	}, all...)
	return client, nil
}

// schemes are the options of every scheme's package.
func (f *flags) schemes() (o schemes.Options, err error) {
	if o.HTTP, err = f.http.options(); err != nil {
		return o, err
	}
	if o.FTP, err = f.ftp.options(f.http.ignoreLength, f.http.raw); err != nil {
		return o, err
	}
	if o.NNTP, err = f.news.options(f.ftp, f.http.compressed); err != nil {
		return o, err
	}
	o.Prospero, err = f.archie()
	return o, err
}

// maxSegments is more than a server thinks polite.
const maxSegments = 16

// middlewares returns those of the command around those of the library.
func (a *app) middlewares() []fetch.Middleware {
	f := &a.flags
	all := []fetch.Middleware{func(next fetch.Driver) fetch.Driver { return recordHeads{next} }}
	all = append(all, a.around...)
	if a.archiving {
		all = append(all, a.hintOnce())
	}
	o := wrap.Options{Segments: min(f.segments, maxSegments), Retry: a.retrying(), Polite: a.polite(), Rate: int64(f.limitRate), Progress: a.shown}
	if a.remember {
		o.Cache = &wrap.CacheOptions{}
	}
	return append(all, wrap.Standard(o)...)
}

// polite returns what a host has to bear, nil where requests do not wait.
func (a *app) polite() *wrap.PoliteOptions {
	f := &a.flags
	if a.archiving || !f.parallel && f.delay <= 0 && !f.robots {
		return nil // a mirror paces itself
	}
	o := &wrap.PoliteOptions{PerHost: f.perHost, Delay: time.Duration(f.delay)}
	if f.robots {
		o.Rule = wrap.Robots("fetch")
	}
	return o
}

func (a *app) retrying() wrap.RetryOptions {
	f := &a.flags
	return wrap.RetryOptions{
		Attempts: max(f.retry, 0) + 1,
		Delay:    time.Duration(f.retryDelay),
		Total:    time.Duration(f.retryMaxTime),
		All:      f.retryAllErrors,
		Notify: func(ctx context.Context, t wrap.Attempt) {
			made, err := countAttempt(ctx, t), t.Err
			switch {
			case a.archiving && !f.verbose: // what matters of many is how each ends
				return
			case a.archiving:
				err = fmt.Errorf("%s: %w", t.Request.URL, err)
			}
			a.note("%v; attempt %d of %d in %v", err, made+1, made+t.Left, t.Wait.Round(100*time.Millisecond))
		},
	}
}

// attempts counts those that are made for a job: by the Retry middleware, which
// finds it in the context, and by the job, which begins anew what that cannot
// resume.
type attempts struct {
	retries atomic.Int64
	before  int // attempts before the job began anew
}

type attemptsKey struct{}

// countAttempt counts the attempt that follows t, and returns how many were
// made before it.
func countAttempt(ctx context.Context, t wrap.Attempt) (made int) {
	n, ok := ctx.Value(attemptsKey{}).(*attempts)
	if !ok {
		return t.Made
	}
	n.retries.Add(1)
	return n.before + t.Made
}
