package nntp

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A place is a server, and how a connection to it begins.
type place struct {
	fetch.Target
	implicit bool // TLS from the first byte
}

// place is where u is asked for.
func (o Options) place(u uri.URI, implicit bool) (place, error) {
	if u.Host() == "" {
		return o.server(implicit)
	}
	t, err := fetch.TargetOf(u, portOf(implicit))
	return place{t, implicit}, err
}

// server is that of URLs without a host. Their scheme or that of
// Options.Server may ask for TLS.
func (o Options) server(implicit bool) (place, error) {
	text := o.Server
	if text == "" {
		err := fetch.Usage.Errorf("URL without a host, and no news server is configured")
		return place{}, &fetch.Remedy{Err: err, Override: fetch.Override{Kind: OverrideServer}}
	}
	if !strings.Contains(text, "://") {
		text = "news://" + text
	}
	u, err := uri.Parse(text)
	if err != nil {
		return place{}, fetch.Usage.Errorf("news server: %w", err)
	}
	switch u.Scheme() {
	case "news", "nntp":
	case "snews", "nntps":
		implicit = true
	default:
		return place{}, fetch.Usage.Errorf("news server %q: scheme is none of news, nntp, snews, nntps", u)
	}
	if _, ok := u.Userinfo(); ok || u.Host() == "" || strings.Trim(u.Path(), "/") != "" {
		return place{}, fetch.Usage.Errorf("news server %q: not a host and perhaps a port", u)
	}
	t, err := fetch.TargetOf(u, portOf(implicit))
	return place{t, implicit}, err
}

func portOf(implicit bool) uint16 {
	if implicit {
		return tlsPort
	}
	return clearPort
}
