// Package prospero implements prospero URLs (RFC 1738 3.11, RFC 4157): the
// directories of Prospero servers and their objects.
//
// Pass the result of Schemes to fetch.New. A directory is a listing of links,
// each with the URL of its target. A file is retrieved from the server if
// possible. Otherwise the response is a redirect to an ftp, gopher, http, wais
// or news URL that the server names.
//
//	prospero://H/AFTP/pub             the object AFTP/pub
//	prospero://H//srv/pub             the object /srv/pub
//	prospero://H/x;OBJECT-VERSION=2   version 2 of x; equal to x%002 (RFC 1630)
//	prospero://H/ARCHIE/MATCH(95,0,S)/fetch   a search of archie
//
// Union links and filters are shown, but not followed or executed, because they
// need the name space of a user.
package prospero

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// Options configures the prospero scheme. The zero value is valid.
type Options struct {
	// Match selects how an archie search compares names: '=' for equal names,
	// 'S' for a substring, 'C' for a case-sensitive substring, 'R' for a
	// regular expression. Zero means 'S'. With a lower-case letter, the server
	// tries equal names first.
	Match byte
}

// Schemes returns the prospero scheme.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "prospero",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Extra: []uint16{191}},
		Links:  scheme.Links{To: []string{"http", "https", "ftp", "gopher", "wais", "prospero"}, OwnPort: true},
		Traits: scheme.Traits{ReportsSize: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{References: true},
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env} },
		Menu:   menu,
		Query:  o.query,
	}}
}

const port = 1525
