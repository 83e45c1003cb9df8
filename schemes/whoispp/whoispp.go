// Package whoispp implements the whois++ scheme, which names records of a
// Whois++ server (RFC 1835).
//
// Pass the result of [Schemes] to fetch.New. The object is a text with the
// records. If the server sends only handles of records, or referrals to other
// servers, the object is a listing of their URLs. Each request has its own
// connection.
package whoispp

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// port is the default port.
const port = 63

// Schemes returns the scheme whois++.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "whois++",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"whois++"}},
		Traits: scheme.Traits{ReportsSize: true},
		Mirror: scheme.Mirroring{Record: scheme.RecordSent},
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env} },
		Menu:   menu,
		Query:  query,
	}}
}

var errNoQuery = fetch.NeedQuery.Errorf("Whois++ server requires a query, such as whois++://HOST/name=ada")

// plan returns the query that the driver sends for req.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	q, err := queryOf(req.URL)
	switch {
	case err != nil:
		return nil, err
	case req.Op == fetch.Stat:
		return nil, nil
	case q == "":
		return nil, errNoQuery
	}
	return []scheme.Step{{Verb: "send", Arg: q}}, nil
}

// queryOf returns the query in a URL.
func queryOf(u uri.URI) (string, error) {
	if _, ok := u.Query(); ok {
		return "", fetch.BadURL.Errorf(`whois++ URL must not have a query: write "?" as %%3F`)
	}
	if _, ok := u.Userinfo(); ok || u.Host() == "" {
		return "", fetch.BadURL.Errorf("whois++ URL must be whois++://HOST/QUERY")
	}
	q, err := uri.Unescape(strings.TrimPrefix(u.Path(), "/"))
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	return q, checkQuery(q)
}

// maxQuery is the maximum length of a query in bytes.
const maxQuery = 500

func checkQuery(q string) error {
	switch {
	case textform.HasControl(q):
		return fetch.BadURL.Errorf("control character in the query")
	case len(q) > maxQuery:
		return fetch.BadURL.Errorf("query is longer than %d bytes", maxQuery)
	}
	return nil
}

// query returns the URL of a search for the words of q on the server of u.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	if _, err := queryOf(u); err != nil {
		return uri.URI{}, err
	}
	if err := checkQuery(q.Words); err != nil {
		return uri.URI{}, err
	}
	return u.WithoutFragment().WithPath("/" + uri.Escape(q.Words, uri.Segment))
}
