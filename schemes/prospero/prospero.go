// Package prospero dereferences prospero URLs (RFC 1738 3.11, RFC 4157): the
// directories of Prospero servers, and what the names in them stand for.
//
// Call Schemes and give the result to fetch.New. A directory is a listing of
// links, each with the URL of what it leads to. A file comes from the server
// itself where that has it; otherwise the server says where it can be had, and
// the answer is a redirect to an ftp, gopher, http, wais or news URL.
//
//	prospero://H/AFTP/pub             the object AFTP/pub
//	prospero://H//srv/pub             the object /srv/pub
//	prospero://H/x;OBJECT-VERSION=2   a version of it; x%002 says the same (RFC 1630)
//	prospero://H/ARCHIE/MATCH(95,0,S)/fetch   a search of archie
//
// Union links and filters are shown, and neither followed nor carried out:
// that is for clients which have a name space to fit them into.
//
// Package internal/prospero/ardp sends requests and reads replies as UDP
// datagrams, and package internal/prospero/message parses their text. Package
// internal/prospero/prospertest is a server for tests.
package prospero

import "github.com/anyurl/fetch/fetch"

// Options say how prospero is spoken. The zero value is right.
type Options struct {
	// Match is how a search asks archie: '=' for the exact name, 'S' for a
	// part of it, 'C' for a part in the same case, 'R' for a regular expression;
	// in lower case for the exact name first and only then the other. 0: 'S'.
	Match byte
}

// Schemes returns prospero.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "prospero",
		Port:   port,
		Help:   help,
		Ports:  fetch.Ports{Extra: []uint16{191}},
		Links:  fetch.Links{To: []string{"http", "https", "ftp", "gopher", "wais", "prospero"}, OwnPort: true},
		Traits: fetch.Traits{ReportsSize: true},
		Mirror: fetch.Mirroring{References: true},
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env} },
		Menu:   menu,
		Query:  o.query,
	}}
}

const port = 1525
