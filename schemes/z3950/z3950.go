// Package z3950 implements z39.50r and z39.50s URLs: records of Z39.50
// databases, and searches in them (RFC 2056).
//
// Pass the result of Schemes to fetch.New. A URL has one of these forms:
//
//	z39.50r://H/DATABASE?DOCID         the record with this document id
//	z39.50s://H/DATABASE               an index; Stat describes the server
//	z39.50s://H/DATABASE?WORDS         a listing of the records with these words
//	z39.50s://H/DATABASE?WORDS;n=N     record number N of this listing
//
// Several databases are separated by "+". Each URL may end in ";esn=NAME", the
// element set of the records, and ";rs=NAME+NAME", their record syntaxes in the
// order of preference: usmarc, unimarc, xml, html, sutrs or grs-1. The
// parameter "n" is an extension of RFC 2056. The URLs in a listing contain it,
// because servers report no document ids.
//
// A word "title:whale" is searched in titles only. The names author, title,
// subject, isbn, issn and any are known. Words in quotation marks are one
// phrase.
//
// MARC records are text unless the URL names their record syntax. GRS-1 records
// are always text.
package z3950

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes. The zero value is valid.
type Options struct{}

// Schemes returns the schemes z39.50r and z39.50s.
func Schemes(Options) []fetch.Scheme {
	record := fetch.Scheme{
		Name:   "z39.50r",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Traits: scheme.Traits{ReportsSize: true},
		Plan:   plan,
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{env: env, idle: sessions.Pool[*session]{Done: env.Done}}
		},
	}
	session := record
	session.Name = sessionScheme
	session.Links.To = []string{sessionScheme}
	session.Mirror.Subtree = func(u uri.URI) (uri.URI, bool) { return u, true }
	session.Menu = menu
	session.Query = query
	return []fetch.Scheme{record, session}
}

const (
	port          = 210
	sessionScheme = "z39.50s"
	proto         = "Z39.50"
)
