package main

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// gateways puts servers that fetch URLs for others in the place of schemes:
// those of --gateway, those that SCHEME_proxy names as lynx reads it, unless a
// flag names another way, and for ftp an http proxy, which is asked for the whole
// URL unless -p wants a tunnel.
func (f *flags) gateways(all []fetch.Scheme, choose fetch.ProxyFunc) ([]fetch.Scheme, error) {
	named := map[string]uri.URI{}
	for _, text := range f.gateway {
		scheme, via, ok := strings.Cut(text, "=")
		u, err := uri.Parse(via)
		if !ok || err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
			return nil, fetch.Usage.Errorf("--gateway wants SCHEME=http://HOST:PORT/") // what it got may hold a password
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
		case fetch.ByRequest:
			all[i] = f.requestByProxy(s, choose)
		case fetch.ByGateway:
			text := cmp.Or(os.Getenv(s.Name+"_proxy"), os.Getenv(strings.ToUpper(s.Name)+"_PROXY"))
			if u, err := uri.Parse(text); err == nil && u.Scheme() == "http" && f.proxy.url == "" {
				all[i] = either(s, http.Gateway(s, u), choose)
			}
		}
	}
	for name, via := range named {
		port, _ := uri.DefaultPort(name)
		s := fetch.Scheme{Name: name, Port: port, Ports: fetch.Ports{Class: fetch.TextPorts}}
		all = append(all, http.Gateway(s, via))
	}
	return all, nil
}

// requestByProxy returns s with its URLs sent to an HTTP proxy. If the user
// wants encryption, the driver uses a tunnel, because such a proxy would see
// the login and the file.
func (f *flags) requestByProxy(s fetch.Scheme, choose fetch.ProxyFunc) fetch.Scheme {
	if f.ftp.sslReqd || f.ftp.sslControl || f.proxy.tunnel {
		return s
	}
	p, err := choose(fetch.Target{Scheme: s.Name, Port: s.Port})
	if err != nil || p.URL.Scheme() != "http" && p.URL.Scheme() != "https" {
		return s
	}
	return either(s, http.Gateway(s, p.URL), choose)
}

// either returns a scheme that requests a target from gateway if choose has a
// proxy for it.
func either(direct, gateway fetch.Scheme, choose fetch.ProxyFunc) fetch.Scheme {
	takes := func(req *fetch.Request) bool {
		t, err := fetch.TargetOf(req.URL, direct.Port)
		if err != nil {
			return false
		}
		p, err := choose(t)
		return err == nil && !p.URL.IsZero()
	}
	s := direct
	s.Trust = append(append([]string(nil), direct.Trust...), gateway.Trust...)
	s.Plan = func(req *fetch.Request) ([]fetch.Step, error) {
		if takes(req) {
			return gateway.Plan(req)
		}
		return direct.Plan(req)
	}
	s.Open = func(env fetch.Env) fetch.Driver {
		one, other := direct.Open(env), gateway.Open(env)
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if takes(req) {
				return other.Do(ctx, req)
			}
			return one.Do(ctx, req)
		})
	}
	return s
}
