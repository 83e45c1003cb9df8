// Package urn implements the urn scheme, which names objects without their
// location (RFC 8141, RFC 2141).
//
// Pass the result of [Schemes] to fetch.New. The Response for a URN is a
// redirect to a URL, which is the result of a template. [Options.Templates]
// contains the templates of the user, for example for a resolver with the
// interface of RFC 2169. The package contains templates for some namespaces
// with stable resolvers.
package urn

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// Options configures the urn scheme. The zero value is valid.
type Options struct {
	// Templates contains the templates of the user. The server in a template
	// counts as configured by the user, so that it may have a private address.
	Templates []Template
}

// targets lists the schemes of the URLs to which a URN may lead.
var targets = []string{"http", "https", "ftp", "ftps", "gopher", "gophers"}

// Schemes returns the scheme urn. Only the user may enter URNs: no document may
// lead to them, because the redirects lead to configured servers.
func Schemes(o Options) []fetch.Scheme {
	s := fetch.Scheme{
		Name:   "urn",
		Help:   help,
		Links:  scheme.Links{To: targets, Confined: true},
		Traits: scheme.Traits{ReportsSize: true},
		Mirror: scheme.Mirroring{Alias: true},
		Plan:   o.plan,
		Open:   func(fetch.Env) fetch.Driver { return fetch.DriverFunc(o.do) },
	}
	for _, t := range o.Templates {
		s.Trust = append(s.Trust, t.server)
		if host, ok := strings.CutSuffix(t.server, ":80"); ok {
			s.Trust = append(s.Trust, host+":443") // fetch.Options.Upgrade can replace http by https
		}
	}
	return []fetch.Scheme{s}
}

func (o Options) plan(req *fetch.Request) ([]scheme.Step, error) {
	to, err := o.resolve(req.URL)
	if err != nil {
		return nil, err
	}
	return []scheme.Step{{Verb: "redirect", Arg: to.String()}}, nil
}

func (o Options) do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	to, err := o.resolve(req.URL)
	if err != nil {
		return nil, err
	}
	return &fetch.Response{URL: req.URL, Size: -1, Proto: "urn", Location: to, Body: http.NoBody}, nil
}

// resolve returns the URL of the object that a URN names. The templates of the
// user come first.
func (o Options) resolve(u uri.URI) (uri.URI, error) {
	n, err := parse(u)
	if err != nil {
		return uri.URI{}, err
	}
	for _, t := range slices.Concat(o.Templates, known) {
		if to, ok, err := t.expand(n); ok || err != nil {
			return to, err
		}
	}
	return uri.URI{}, fetch.Unsupported.Errorf("no template resolves the URN namespace %s", n.nid)
}

// A name contains the parts of a URN (RFC 8141 section 2).
type name struct {
	nid string // in lower case
	nss string // percent-encoded
	r   string // r-component, for the resolver
	q   string // q-component, for the object
}

// parse parses a URN. The f-component is the fragment of the URI, and the Client
// adds it to the target of the redirect.
func parse(u uri.URI) (n name, err error) {
	nid, nss, ok := strings.Cut(u.Path(), ":")
	n = name{nid: strings.ToLower(nid), nss: nss}
	if !ok || nss == "" || nss[0] == '/' || u.HasAuthority() || !validNID(n.nid) {
		return n, fetch.BadURL.Errorf("URN must be urn:NAMESPACE:NAME")
	}
	query, ok := u.Query()
	if !ok {
		return n, nil
	}
	if r, ok := strings.CutPrefix(query, "+"); ok {
		n.r, query, ok = strings.Cut(r, "?=")
		if query = "=" + query; !ok {
			query = ""
		}
		if n.r == "" {
			query = "invalid"
		}
	}
	switch q, ok := strings.CutPrefix(query, "="); {
	case ok && q != "":
		n.q = q
	case query != "" || n.r == "":
		return n, fetch.BadURL.Errorf("a component of a URN must start with ?+ or ?= and must not be empty")
	}
	return n, nil
}

// validNID reports whether s is a valid namespace identifier in lower case.
func validNID(s string) bool {
	if len(s) < 2 || len(s) > 32 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
