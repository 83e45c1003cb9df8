package nntp

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/uri"
)

// An endpoint is the address of a server and the TLS mode of its port.
type endpoint struct {
	fetch.Target
	implicitTLS bool // TLS starts with the first byte
}

// endpointOf returns the address and the TLS mode of the server for a URL. If
// the URL has no host, the server is Options.Server.
func (o Options) endpointOf(u uri.URI, implicit bool) (endpoint, error) {
	if u.Host() == "" {
		return o.defaultEndpoint(implicit)
	}
	t, err := fetch.TargetOf(u, defaultPort(implicit))
	return endpoint{t, implicit}, err
}

// defaultEndpoint returns the endpoint for URLs without a host. It uses TLS
// from the first byte if implicit is true or if Options.Server has a scheme
// with TLS.
func (o Options) defaultEndpoint(implicit bool) (endpoint, error) {
	text := o.Server
	if text == "" {
		err := fetch.Usage.Errorf("URL without a host, and no news server is configured")
		return endpoint{}, override.With(err, override.Setting{Kind: OverrideServer})
	}
	if !strings.Contains(text, "://") {
		text = "news://" + text
	}
	u, err := uri.Parse(text)
	if err != nil {
		return endpoint{}, fetch.Usage.Errorf("news server: %w", err)
	}
	switch u.Scheme() {
	case "news", "nntp":
	case "snews", "nntps":
		implicit = true
	default:
		return endpoint{}, fetch.Usage.Errorf("news server %q: scheme is not news, nntp, snews or nntps", u)
	}
	if _, ok := u.Userinfo(); ok || u.Host() == "" || strings.Trim(u.Path(), "/") != "" {
		return endpoint{}, fetch.Usage.Errorf("news server %q: only a host and an optional port are allowed", u)
	}
	t, err := fetch.TargetOf(u, defaultPort(implicit))
	return endpoint{t, implicit}, err
}

func defaultPort(implicit bool) uint16 {
	if implicit {
		return tlsPort
	}
	return plaintextPort
}
