package clientflags

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// gatewayFlags select HTTP gateways. A gateway retrieves URLs of another scheme
// on behalf of the client.
type gatewayFlags struct{ gateways []string }

func (f *gatewayFlags) register(s *options.Set) {
	p := s.Section("Connections and proxies")
	p.StringArrayVar(&f.gateways, "gateway", nil, "`SCHEME=URL`: retrieve URLs of SCHEME through an HTTP gateway")
}

// apply replaces the schemes that are retrieved through an HTTP gateway. The
// gateways come from --gateway, and from environment variables such as
// wais_proxy (as in lynx) unless --proxy is set. An HTTP proxy is also the
// gateway for ftp URLs. If encrypted is true, ftp requires TLS and uses no such
// gateway.
func (f *gatewayFlags) apply(all []fetch.Scheme, proxies *proxyFlags, proxy fetch.ProxyFunc,
	encrypted bool) ([]fetch.Scheme, error) {
	named := map[string]uri.URI{}
	for _, text := range f.gateways {
		scheme, via, ok := strings.Cut(text, "=")
		u, err := uri.Parse(via)
		if !ok || err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
			return nil, fetch.Usage.Errorf("--gateway requires SCHEME=http://HOST:PORT/") // the value may contain a password
		}
		named[strings.ToLower(scheme)] = u
	}
	for i, s := range all {
		if via, ok := named[s.Name]; ok {
			all[i] = http.Gateway(s, via)
			delete(named, s.Name)
			continue
		}
		switch s.Proxy {
		case scheme.ByRequest:
			if !encrypted && !proxies.tunnel {
				all[i] = requestByProxy(s, proxy)
			}
		case scheme.ByGateway:
			text := cmp.Or(os.Getenv(s.Name+"_proxy"), os.Getenv(strings.ToUpper(s.Name)+"_PROXY"))
			if u, err := uri.Parse(text); err == nil && u.Scheme() == "http" && proxies.url == "" {
				all[i] = selectGateway(s, http.Gateway(s, u), proxy)
			}
		}
	}
	for name, via := range named {
		port, _ := uri.DefaultPort(name)
		s := fetch.Scheme{Name: name, Port: port, Ports: scheme.Ports{Class: scheme.TextPorts}}
		all = append(all, http.Gateway(s, via))
	}
	return all, nil
}

// requestByProxy returns a scheme that lets an HTTP proxy retrieve the URLs of
// s. The proxy can read the passwords and the files. If there is no HTTP proxy,
// requestByProxy returns s unchanged.
func requestByProxy(s fetch.Scheme, proxy fetch.ProxyFunc) fetch.Scheme {
	p, err := proxy(fetch.Target{Scheme: s.Name, Port: s.Port})
	if err != nil || p.URL.Scheme() != "http" && p.URL.Scheme() != "https" {
		return s
	}
	return selectGateway(s, http.ProxyGateway(s, p), proxy)
}

// selectGateway returns a scheme that uses the gateway for hosts that are
// reached through a proxy, and a direct connection for all other hosts.
func selectGateway(direct, gateway fetch.Scheme, proxy fetch.ProxyFunc) fetch.Scheme {
	useGateway := func(req *fetch.Request) bool {
		t, err := fetch.TargetOf(req.URL, direct.Port)
		if err != nil {
			return false
		}
		p, err := proxy(t)
		return err == nil && !p.URL.IsZero()
	}
	s := direct
	s.Trust = append(append([]string(nil), direct.Trust...), gateway.Trust...)
	s.Plan = func(req *fetch.Request) ([]scheme.Step, error) {
		if useGateway(req) {
			return gateway.Plan(req)
		}
		return direct.Plan(req)
	}
	s.Open = func(env fetch.Env) fetch.Driver {
		directDriver, gatewayDriver := direct.Open(env), gateway.Open(env)
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if useGateway(req) {
				return gatewayDriver.Do(ctx, req)
			}
			return directDriver.Do(ctx, req)
		})
	}
	return s
}
