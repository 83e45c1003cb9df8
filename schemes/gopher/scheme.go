// Package gopher implements the gopher and gophers schemes (RFC 1436, RFC 1738
// section 3.4, RFC 4266). The scheme gophers is Gopher over TLS. The package
// also implements Gopher+ items, attributes, views and forms (Anklesaria and
// others, "Gopher+", 1993) and the phone books of item type 2 (RFC 2378).
//
// Pass the result of [Schemes] to fetch.New. A menu is a listing. An item of
// type 7 or 2 is a search index. A URL that ends in "%09%09!" names the
// attributes of an item. A URL that ends in "%09%09$" names the attributes of
// all items in a menu.
//
// A Gopher response has neither a length nor a status. Response.Size is
// therefore -1, except for Gopher+ responses that state a length. Error pages
// are recognized by their text, which differs between servers.
package gopher

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// Options configures the schemes gopher and gophers. The zero value is valid.
type Options struct {
	// View and Lang select a Gopher+ view if the URL does not select a view.
	// View is a media type or its subtype, such as "postscript". Lang is a
	// language, such as "De_DE", or "de" for all variants of German.
	View, Lang string

	// FillForm returns the answers to the Gopher+ form f, one for each field.
	// [Form.Fill] can compute the answers. FillForm is called only for URLs
	// that the user entered. If FillForm is nil, the defaults of the form are
	// sent, and a field without a default is an error.
	FillForm func(ctx context.Context, f Form) ([]string, error)

	// If Strict is true, a text or menu without a final "." line is reported as
	// truncated. Many servers never send that line.
	Strict bool
}

// Schemes returns the schemes gopher and gophers.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{o.scheme("gopher"), o.scheme("gophers")}
}

func (o Options) scheme(name string) fetch.Scheme {
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"http", "https", "gopher", "gophers"}},
		Secure: name == "gophers",
		Traits: scheme.Traits{ReportsSize: true, Listing: scheme.ItemMenu, Parents: parents},
		Mirror: scheme.Mirroring{Record: scheme.RecordSent, Place: mirrorPlace,
			Files: scheme.FileNames{Listing: ".gophermap", Path: filePath}},
		Robots: scheme.Robots{File: "/0/robots.txt", Caps: "/0/caps.txt", Path: robotsPath},
		Plan:   o.plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env, o} },
		Menu:   menu,
		Query:  query,
	}
}

// port is the default port of both schemes. A server that supports TLS
// recognizes a TLS connection by its first byte.
const port = 70
