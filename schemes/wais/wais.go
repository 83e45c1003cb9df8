// Package wais implements wais URLs: the databases of WAIS servers, search
// results, and documents.
//
// Pass the result of Schemes to fetch.New. A URL has one of these forms (RFC
// 1738 3.9, RFC 4156):
//
//	wais://H/DATABASE               an index; Stat returns its description
//	wais://H/DATABASE?WORDS         a listing of the documents that match
//	wais://H/DATABASE/TYPE/ID       a document
//	wais://H/DATABASE/TYPE/ID#line=A,B   its lines from A up to B (RFC 5147)
//
// Without DATABASE the database is INFO, in which servers list their databases.
// ID may have any known form. The URLs in a listing retrieve the listed documents. "&max=N" may follow WORDS, and also "&like=TYPE/ID", with
// an optional "&lines=A,B", for documents that the results should resemble. "&"
// in WORDS is written as %26. A search without words lists the documents that
// describe the database.
package wais

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the wais scheme. The zero value is valid.
type Options struct {
	// Max is the maximum number of search results for a URL without "max=N".
	// Zero means 40, the value of the original clients.
	Max int

	// All repeats each search with larger limits until all documents are found,
	// up to 16,384. It has no effect on URLs with "max=N".
	All bool
}

// Schemes returns the wais scheme.
func Schemes(o Options) []fetch.Scheme {
	if o.Max <= 0 {
		o.Max = 40
	}
	return []fetch.Scheme{{
		Name:   "wais",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"wais"}},
		Traits: scheme.Traits{ReportsSize: true, Feedback: true, Parents: parents},
		Mirror: scheme.Mirroring{
			// The id of a document contains the file name and the database name
			// twice.
			Repeats: true,
			Subtree: func(u uri.URI) (uri.URI, bool) { return u, true },
		},
		Plan: o.plan,
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{Options: o, env: env, idle: sessions.Pool[*session]{Done: env.Done}}
		},
		Menu:  menu,
		Query: query,
	}}
}

const port = 210

// parents returns the server and the database of u. The id of a document has no
// parts.
func parents(u uri.URI) []uri.URI {
	all := scheme.Levels(u)
	return all[:min(len(all), 2)]
}
