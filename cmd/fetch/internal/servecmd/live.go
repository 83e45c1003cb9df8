package servecmd

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// serveLiveFlags are the flags of fetch serve for live pages, which are
// retrieved from the network.
type serveLiveFlags struct {
	live       string // "", "all", or names of schemes
	allowHosts []string
	client     clientflags.Flags
}

func (f *serveLiveFlags) Register(s *options.Set) {
	p := s.Own("Flags")
	p.Func("live", "show live pages of URLs, or only of URLs of `SCHEMES` (default without archives)", func(text string) error {
		f.live = text
		return nil
	})
	p.Lookup("live").NoOptDefVal = "all"
	p.StringSliceVar(&f.allowHosts, "allow-host", nil, "show live pages of the private `HOST|PREFIX` without a confirmation")
	f.client.Register(s)
}

// isOn reports whether live pages are shown: if --live is set, or if there are
// no archives.
func (f *serveLiveFlags) isOn(archives int) bool { return f.live != "" || archives == 0 }

// options returns the options of live pages, or nil if no live pages are shown.
func (f *serveLiveFlags) options(ctx context.Context, s *console.Streams, archives int) (*gateway.Live, error) {
	if !f.isOn(archives) {
		if len(f.allowHosts) > 0 {
			return nil, fetch.Usage.Errorf("--allow-host requires --live")
		}
		return nil, nil
	}
	o := &gateway.Live{AllowHosts: f.allowHosts}
	if f.live != "" && f.live != "all" {
		all := schemes.All(schemes.Options{})
		for name := range strings.SplitSeq(f.live, ",") {
			if !slices.ContainsFunc(all, func(s fetch.Scheme) bool { return s.Name == name }) {
				return nil, fetch.Usage.Errorf("--live: unknown scheme %q", name)
			}
			o.Schemes = append(o.Schemes, name)
		}
	}
	c, err := f.newClients(ctx, s)
	if err == nil {
		o.Client = c.open
	}
	return o, err
}

// serveClients opens the Clients that retrieve live pages.
type serveClients struct {
	ctx      context.Context
	streams  *console.Streams
	flags    [2]clientflags.Flags // the second is for requests that may use the data of the user
	schemes  [2]schemes.Options
	fields   fetch.Header        // header fields of all requests
	personal *clientflags.Logins // the logins of the user
	entered  sync.Map            // servers of the URLs that the user entered in a session, by fetch.Origin
}

// newClients reads the credentials and the cookies that the flags name. They
// are not used for requests of other users of this machine.
func (f *serveLiveFlags) newClients(ctx context.Context, s *console.Streams) (c *serveClients, err error) {
	personal, other := f.client, f.client
	switch {
	case personal.Login.User != "":
		err = fetch.Usage.Errorf("--user would send the password to every server: use --netrc")
	case personal.HTTP.Cookies.Field() != "":
		err = fetch.Usage.Errorf("--cookie NAME=VALUE would send the cookie to every server: use --cookie FILE")
	case personal.HTTP.Cookies.JarFile != "":
		err = fetch.Usage.Errorf("serve does not save cookies: use --cookie FILE")
	case len(personal.Replay.Archives) > 0:
		err = fetch.Usage.Errorf("serve reads the archives that are its arguments, not those of --archive")
	}
	if err != nil {
		return nil, err
	}
	other.RemoveUser()
	c = &serveClients{ctx: ctx, streams: s, flags: [2]clientflags.Flags{other, personal}}
	for i := range c.flags {
		if c.schemes[i], err = c.flags[i].Schemes(); err != nil {
			return nil, err
		}
		c.schemes[i].HTTP.Compressed = true // the gateway sends bodies without content codings
		if c.schemes[i].HTTP.Auth == http.Basic {
			c.schemes[i].HTTP.Auth = http.AnyAuth // a login from a form has no method
		}
	}
	if c.fields, err = personal.HTTP.Fields(); err != nil {
		return nil, err
	}
	for _, field := range c.fields {
		if http1.IsSecretField(field.Name) {
			return nil, fetch.Usage.Errorf("the header field %s would be sent to every server", field.Name)
		}
	}
	if c.personal, err = personal.Login.Open(s); err == nil {
		c.personal.Silent = true
	}
	return c, err
}

// open returns a Client with the policy p. If personal is true, the Client uses
// the credentials and the cookies of the user.
func (c *serveClients) open(p fetch.Policy, personal bool) (*fetch.Client, error) {
	i, l, entered := 0, &clientflags.Logins{Streams: c.streams, Silent: true}, new(sync.Map)
	if personal {
		i, l, entered = 1, c.personal, &c.entered
	}
	f := &c.flags[i]
	retry := f.Retry.Options(nil)
	if !f.Retry.Set.Changed("retry") {
		retry.Attempts = 1 // the user can reload the page
	}
	opened, err := f.Open(c.ctx, c.streams, clientflags.Spec{
		Schemes: c.schemes[i], Policy: &p, Logins: l,
		Middlewares: []fetch.Middleware{func(next fetch.Driver) fetch.Driver { return loginDriver{next, c.fields, l, entered} }},
		Standard:    wrap.Options{Retry: retry, Rate: int64(f.Limits.Rate)},
	})
	if err != nil {
		return nil, err
	}
	return opened.Client, nil
}

// A loginDriver adds the header fields of the flags to each request. It adds a
// login only if the user entered the URL, or if a page of the same server
// contains the link.
type loginDriver struct {
	next    fetch.Driver
	fields  fetch.Header
	logins  *clientflags.Logins
	entered *sync.Map // servers of the URLs that the user entered
}

func (d loginDriver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	req = req.Clone()
	req.Header = append(req.Header, d.fields...)
	origin, ok := clientflags.OriginOf(req.URL)
	if ok && req.From == nil {
		d.entered.Store(origin, true)
	}
	if ok && req.From != nil {
		var page fetch.Origin
		page, ok = clientflags.OriginOf(req.From.URL)
		ok = ok && page == origin
	}
	if _, entered := d.entered.Load(origin); ok && entered {
		d.logins.Complete(req)
	} else if ok {
		d.logins.CompleteLink(req)
	}
	return d.next.Do(ctx, req)
}
