package fetch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// A connectProxy is an HTTP proxy in memory that records the targets of CONNECT.
type connectProxy struct{ targets []string }

func (p *connectProxy) dial(context.Context, string, netip.AddrPort) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		in := bufio.NewReader(server)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if target, ok := strings.CutPrefix(line, "CONNECT "); ok {
				p.targets = append(p.targets, strings.Fields(target)[0])
			}
			if line == "\r\n" {
				break
			}
		}
		io.WriteString(server, "HTTP/1.1 200 OK\r\n\r\n") // the client notices an error
	}()
	return client, nil
}

// TestProxiedNames checks which names a proxy gets. The names of links are
// resolved and checked before.
func TestProxiedNames(t *testing.T) {
	answers := names{
		"proxy.example": {"8.8.4.4"}, "page.example": {"8.8.8.8"}, "public.example": {"9.9.9.9"},
		"a.root-servers.net": {"198.41.0.4"}, "private.example": {"10.0.0.1"}, "mixed.example": {"127.0.0.1", "9.9.9.9"}, "intranet": {"192.168.0.1"},
	}
	for name, c := range map[string]struct {
		policy   Policy
		from, to string // URL of the page, or "" if the user entered the URL
		want     string // target of CONNECT, or ""
		fault    Fault
	}{
		"typed":                           {Typed(), "", "http://private.example/", "private.example:80", 0},
		"typed name without an address":   {Typed(), "", "http://unknown.example/", "unknown.example:80", 0},
		"typed name, public policy":       {Public(), "", "http://private.example/", "", BadAddress},
		"link":                            {Typed(), "http://page.example/", "http://public.example/", "9.9.9.9:80", 0},
		"link to the host of the page":    {Typed(), "http://intranet/", "http://intranet/x", "intranet:80", 0},
		"link to another port of it":      {Typed(), "http://intranet/", "http://intranet:443/", "intranet:443", 0},
		"link to a private name":          {Typed(), "http://page.example/", "http://private.example/", "", BadAddress},
		"link to a name of both kinds":    {Typed(), "http://page.example/", "http://mixed.example/", "9.9.9.9:80", 0},
		"link to a name without a dot":    {Typed(), "http://page.example/", "http://intranet/", "", BadAddress},
		"link to a name without a record": {Typed(), "http://page.example/", "http://unknown.example/", "", DNS},
		"link from an allowed host":       {Allowlist("page.example", "private.example"), "http://page.example/", "http://private.example/", "10.0.0.1:80", 0},
	} {
		p := new(connectProxy)
		via := Proxy{URL: uri.MustParse("http://proxy.example:3128")}
		cl := New(Options{Policy: c.policy, Resolver: answers, Dial: p.dial, Proxy: func(Target) (Proxy, error) { return via, nil }}, page(func(_ *Request, resp *Response) { text(resp, "x") }))
		req := &Request{URL: uri.MustParse(c.to)}
		if c.from != "" {
			req.From = &Source{URL: uri.MustParse(c.from)}
		}
		resp, err := cl.Do(t.Context(), req)
		if err == nil {
			resp.Body.Close()
		}
		if got := strings.Join(p.targets, " "); got != c.want || FaultOf(err) != c.fault {
			t.Errorf("%s: the proxy got %q, want %q; error %v", name, got, c.want, err)
		}
		cl.Close()
	}
}

// TestProxyWithoutDNS checks which names of links an HTTP proxy gets if the DNS
// servers of this machine know no names of the Internet.
func TestProxyWithoutDNS(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		proxy  string
		to     string
		want   string // target of CONNECT, or ""
		fault  Fault
	}{
		"link":                            {Typed(), "http://proxy.example:3128", "http://unknown.example/", "unknown.example:80", 0},
		"link through SOCKS":              {Typed(), "socks5://proxy.example", "http://unknown.example/", "", DNS},
		"link, public policy":             {Public(), "http://proxy.example:3128", "http://unknown.example/", "", DNS},
		"link, list of hosts":             {Allowlist("page.example", "unknown.example"), "http://proxy.example:3128", "http://unknown.example/", "", DNS},
		"link to a name without a dot":    {Typed(), "http://proxy.example:3128", "http://unknown/", "", DNS},
		"link to a name of a private net": {Typed(), "http://proxy.example:3128", "http://db.internal/", "", DNS},
		"link to a private address":       {Typed(), "http://proxy.example:3128", "http://private.example/", "", BadAddress},
		"link to this machine":            {Typed(), "http://proxy.example:3128", "http://localhost/", "", BadAddress},
		"link to an address":              {Typed(), "http://proxy.example:3128", "http://10.0.0.1/", "", BadAddress},
	} {
		p := new(connectProxy)
		via := Proxy{URL: uri.MustParse(c.proxy)}
		answers := names{"proxy.example": {"8.8.4.4"}, "private.example": {"10.0.0.1"}}
		cl := New(Options{Policy: c.policy, Resolver: answers, Dial: p.dial, Proxy: func(Target) (Proxy, error) { return via, nil }},
			page(func(_ *Request, resp *Response) { text(resp, "x") }))
		resp, err := cl.Do(t.Context(), &Request{URL: uri.MustParse(c.to), From: &Source{URL: uri.MustParse("http://page.example/")}})
		if err == nil {
			resp.Body.Close()
		}
		if got := strings.Join(p.targets, " "); got != c.want || FaultOf(err) != c.fault {
			t.Errorf("%s: the proxy got %q, want %q; error %v", name, got, c.want, err)
		}
		cl.Close()
	}
}

// TestProxyResolves checks the names that the dialer sends to proxies which
// resolve names themselves.
func TestProxyResolves(t *testing.T) {
	asked := &askedNames{}
	d := newDialer(&Policy{reach: anywhere}, Options{Resolver: asked})
	for host, ok := range map[string]bool{
		"page.example": true, "public.example": true, "abc.onion": true, "public.example.": true,
		"intranet": false, "db.internal": false, "nas.local.": false, "x.home.arpa": false,
		"kubernetes.default.svc": false, "consul.service.consul": false, "x.mail": false,
	} {
		g := &grant{pageClass: public, pageOrigin: Origin{Scheme: "http", Host: "page.example", Port: 80}}
		for _, scheme := range []string{"socks4a", "socks5h"} {
			got, err := d.proxyRequestTarget(t.Context(), scheme, g, Target{Scheme: "http", Host: host, Port: 80})
			if (err == nil) != ok || err == nil && got.Host != host || err != nil && !errors.Is(err, BadAddress) {
				t.Errorf("%s, %s: got %v, %v", scheme, host, got, err)
			}
		}
	}
	if len(asked.names) > 0 {
		t.Errorf("resolved %q", asked.names)
	}
	for _, scheme := range []string{"http", "https", "socks4", "socks5"} {
		d.proxyRequestTarget(t.Context(), scheme, &grant{pageClass: public}, Target{Scheme: "http", Host: scheme + ".example", Port: 80})
		if !slices.Contains(asked.names, scheme+".example.") {
			t.Errorf("%s: a name of a link was not resolved: %q", scheme, asked.names)
		}
	}
}

// TestProxyChainResolves checks that names of links are not resolved for an HTTP
// proxy behind a SOCKS proxy whose users expect no DNS queries.
func TestProxyChainResolves(t *testing.T) {
	for first, resolved := range map[string]bool{"socks4a": false, "socks5h": false, "socks4": true, "socks5": true} {
		asked := &askedNames{}
		via := Proxy{URL: uri.MustParse("http://second.example:3128"), First: uri.MustParse(first + "://first.example")}
		d := newDialer(&Policy{reach: anywhere}, Options{Resolver: asked, Proxy: func(Target) (Proxy, error) { return via, nil }})
		g := &grant{scheme: &Scheme{Name: "http", Traits: scheme.Traits{Web: true}}, pageClass: public}
		for _, host := range []string{"public.example", "intranet"} {
			g.target = Target{Scheme: "http", Host: host, Port: 80}
			_, to, err := d.Proxy(context.WithValue(t.Context(), grantKey{}, g))
			if sent := err == nil && to.Host == host; sent != (host == "public.example") {
				t.Errorf("%s: the proxy gets %q for %s, %v", first, to.Host, host, err)
			}
		}
		if (len(asked.names) > 0) != resolved {
			t.Errorf("%s: resolved %q", first, asked.names)
		}
	}
}

// TestGatewayResolves checks that names of links are not resolved for a gateway
// behind such a SOCKS proxy, and for an HTTP proxy that is the gateway.
func TestGatewayResolves(t *testing.T) {
	for first, resolved := range map[string]bool{"socks4a": false, "socks5h": false, "socks4": true, "socks5": true, "": true} {
		socks := uri.MustParse(cmp.Or(first, "http") + "://first.example")
		for name, via := range map[string]Proxy{
			"proxy":                {URL: uri.MustParse("http://gateway.example"), First: socks},
			"gateway":              {URL: socks},
			"gateway, two proxies": {URL: uri.MustParse("http://second.example"), First: socks},
		} {
			if first == "" {
				via.First = uri.URI{}
			}
			asked := &askedNames{}
			d := newDialer(&Policy{reach: anywhere}, Options{Resolver: asked, Proxy: func(Target) (Proxy, error) { return via, nil }})
			g := &grant{scheme: &Scheme{Name: "ftp", Port: 21, Gateway: true, Trust: []string{"gateway.example:80"}}, pageClass: public}
			for _, host := range []string{"public.example", "intranet"} {
				g.target = Target{Scheme: "ftp", Host: host, Port: 21}
				to, err := d.Gateway(context.WithValue(t.Context(), grantKey{}, g))
				if sent := err == nil && to.Host == host; sent != (host == "public.example") {
					t.Errorf("%s behind %q: it gets %q for %s, %v", name, first, to.Host, host, err)
				}
			}
			if (len(asked.names) > 0) != resolved {
				t.Errorf("%s behind %q: resolved %q", name, first, asked.names)
			}
		}
	}
	// A gateway without a proxy connects to the server itself.
	asked := &askedNames{}
	d := newDialer(&Policy{reach: anywhere}, Options{Resolver: asked, Proxy: func(t Target) (p Proxy, _ error) {
		if t.Host != "gateway.example" {
			p.URL = uri.MustParse("socks5h://first.example")
		}
		return p, nil
	}})
	g := &grant{scheme: &Scheme{Name: "gopher", Port: 70, Gateway: true, Trust: []string{"gateway.example:80"}}, pageClass: public}
	g.target = Target{Scheme: "gopher", Host: "public.example", Port: 70}
	if _, err := d.Gateway(context.WithValue(t.Context(), grantKey{}, g)); len(asked.names) == 0 {
		t.Errorf("gateway without a proxy: resolved no name, %v", err)
	}
}

// askedNames is a Resolver that records names and finds none.
type askedNames struct{ names []string }

func (a *askedNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a.names = append(a.names, host)
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// TestJudgedPageThroughProxy checks links to the host of a page whose name a
// server supplied. DNS could give the proxy another address than this machine.
func TestJudgedPageThroughProxy(t *testing.T) {
	answers := names{"proxy.example": {"8.8.4.4"}, "page.example": {"8.8.8.8"}, "rebound.example": {"10.0.0.1"}}
	for name, c := range map[string]struct {
		url, peer string
		want      string // target of CONNECT, or ""
	}{
		"page that the proxy resolved": {"http://page.example/", "", "page.example:80"},
		"page with a known address":    {"http://page.example/", "8.8.8.8", "8.8.8.8:80"},
		"name that has become private": {"http://rebound.example/", "8.8.8.8", ""},
	} {
		p := new(connectProxy)
		via := Proxy{URL: uri.MustParse("http://proxy.example:3128")}
		cl := New(Options{Policy: Typed(), Resolver: answers, Dial: p.dial, Proxy: func(Target) (Proxy, error) { return via, nil }}, page(func(_ *Request, resp *Response) { text(resp, "x") }))
		from := &Source{URL: uri.MustParse(c.url)}
		from.Peer, _ = netip.ParseAddr(c.peer)
		resp, err := cl.Do(t.Context(), &Request{URL: from.URL, From: from})
		if err == nil {
			resp.Body.Close()
		}
		if got := strings.Join(p.targets, " "); got != c.want {
			t.Errorf("%s: the proxy got %q, want %q; error %v", name, got, c.want, err)
		}
		cl.Close()
	}
}

// TestPeerThroughProxy checks that the peer of a tunnel is the address that the
// proxy got.
func TestPeerThroughProxy(t *testing.T) {
	answers := names{"proxy.example": {"8.8.4.4"}, "page.example": {"8.8.8.8"}}
	p := new(connectProxy)
	via := Proxy{URL: uri.MustParse("http://proxy.example:3128")}
	d := newDialer(&Policy{reach: anywhere}, Options{Resolver: answers, Dial: p.dial})
	for _, typed := range []bool{true, false} {
		g := &grant{typed: typed, pageClass: public}
		c, err := d.dialThroughProxy(t.Context(), "tcp", via, g, Target{Scheme: "http", Host: "page.example", Port: 80})
		if err != nil {
			t.Fatal(err)
		}
		if PeerOf(c).IsValid() == typed {
			t.Errorf("typed = %v: the peer is %v", typed, PeerOf(c))
		}
		c.Close()
	}
}
