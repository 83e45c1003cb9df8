// Package wais dereferences wais URLs: databases of WAIS servers, what is found
// in them, and their documents.
//
// Call Schemes and give the result to fetch.New. A URL has one of these forms
// (RFC 1738 3.9, RFC 4156):
//
//	wais://H/DATABASE               an index; Stat brings its description
//	wais://H/DATABASE?WORDS         a listing of the documents that are found
//	wais://H/DATABASE/TYPE/ID       a document
//	wais://H/DATABASE/TYPE/ID#line=A,B   its lines from A up to B (RFC 5147)
//
// Without DATABASE it is INFO, in which servers list their databases. ID is
// read in all forms that were ever written; see wpath.go. A listing is made of
// URLs that bring what they name. Behind WORDS may stand "&max=N", and
// "&like=TYPE/ID", perhaps with "&lines=A,B", for documents to resemble;
// "&" in the words themselves is written %26. No words at all list what
// describes the database.
//
// Package internal/z3950 encodes and decodes the protocol, Z39.50-1988 with
// extensions. Package internal/waistest is a server for tests.
package wais

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Options say how WAIS is spoken. The zero value is right.
type Options struct {
	// Max is how many documents a search asks for where its URL does not say;
	// 0: 40, as the old clients did.
	Max int

	// All repeats a search with larger limits until the answer stays below the
	// limit, up to 16,384 documents. A max in the URL disables it.
	All bool
}

// Schemes returns wais.
func Schemes(o Options) []fetch.Scheme {
	if o.Max <= 0 {
		o.Max = 40
	}
	return []fetch.Scheme{{
		Name:   "wais",
		Port:   port,
		Help:   help,
		Ports:  fetch.Ports{Class: fetch.TextPorts},
		Links:  fetch.Links{To: []string{"wais"}},
		Traits: fetch.Traits{ReportsSize: true},
		Mirror: fetch.Mirroring{
			// The id of a document names the file and the database twice.
			Repeats: true,
			Subtree: func(u uri.URI) (uri.URI, bool) { return u, true },
		},
		Plan:  o.plan,
		Open:  func(env fetch.Env) fetch.Driver { return newDriver(o, env) },
		Menu:  menu,
		Query: query,
	}}
}

const port = 210
