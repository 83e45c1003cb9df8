// Package gopher dereferences gopher and gophers URLs (RFC 1436, RFC 1738
// 3.4, RFC 4266, and gophers as Gopher in TLS), Gopher+ items, attributes,
// views and forms (Anklesaria and others, "Gopher+", 1993), and the phone
// books of items of type 2 (RFC 2378).
//
// Call Schemes and give the result to fetch.New. A menu is a listing, an item
// of type 7 or 2 an index; "%09%09!" behind a URL asks for the attributes of
// its item, "%09%09$" for those of everything in a menu.
//
// Gopher says neither how long an object is nor whether the request failed:
// Response.Size is -1 but for Gopher+, and errors are recognised by how known
// servers write them. See text.go for where a text ends.
package gopher

import (
	"context"

	"github.com/anyurl/fetch/fetch"
)

// Options say how gopher is spoken. The zero value is right.
type Options struct {
	// View and Lang choose among the Gopher+ views of an item, where its URL
	// chooses none: View is a media type or what follows its slash
	// ("postscript"), Lang a language ("De_DE", or "de" for any kind of it).
	View, Lang string

	// Ask fills the form of an item that has one. It is asked for URLs that a
	// person typed, and returns one answer for each field; Form.Fill helps. A
	// nil Ask answers no form.
	Ask func(ctx context.Context, f Form) ([]string, error)

	// Strict takes a text or a menu that does not end in a line of one dot for
	// truncated. Many servers never send it.
	Strict bool
}

// Schemes returns gopher and gophers.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{o.scheme("gopher"), o.scheme("gophers")}
}

func (o Options) scheme(name string) fetch.Scheme {
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  fetch.Ports{Class: fetch.TextPorts},
		Links:  fetch.Links{To: []string{"http", "https", "gopher", "gophers"}},
		Secure: name == "gophers",
		Traits: fetch.Traits{Sizes: true},
		Mirror: fetch.Mirroring{Record: fetch.RecordSent, Talk: "gopher", Place: place},
		Robots: fetch.Robots{File: "/0/robots.txt", Caps: "/0/caps.txt", Path: robotsPath},
		Plan:   o.plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env, o} },
		Menu:   menu,
		Query:  query,
	}
}

// port is where both schemes are spoken: a server with TLS tells the two apart
// by the first byte.
const port = 70
