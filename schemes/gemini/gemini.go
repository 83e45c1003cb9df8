// Package gemini implements the schemes gemini and spartan, and the listings in
// their text format, gemtext. It follows the Gemini network protocol
// specification 0.24.1, the gemtext specification 0.24.1, and the Spartan
// protocol specification of 2021.
//
// Pass the result of [Schemes] to fetch.New. A gemtext document is a listing,
// whose entries are the links and the lines of text. A document that requires
// input is a search index.
//
// Gemini servers have self-signed certificates. The driver stores the public key of a
// server at the first request (trust on first use). A server with another key
// is rejected later.
package gemini

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes gemini and spartan. The zero value is valid.
type Options struct {
	// KnownHosts is the path of the file with the public keys of servers. If it
	// is "", the file is gemini_hosts in the folder "fetch" of the user's state
	// folder, such as ~/.local/state.
	KnownHosts string

	// If Strict is true, a document of gemini without the close_notify alert of
	// TLS is reported as truncated. Otherwise, Response.Doubt is set at its end.
	Strict bool
}

// Schemes returns the schemes gemini and spartan.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{{
		Name:  "gemini",
		Port:  port,
		Help:  help,
		Ports: scheme.Ports{Class: scheme.TextPorts},
		Links: scheme.Links{
			To:        []string{"gemini", "https", "gophers", "ftps"},
			Downgrade: []string{"http", "gopher", "ftp", "spartan"},
		},
		Secure: true,
		Traits: scheme.Traits{ReportsSize: true, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Record: scheme.RecordReplies, Files: scheme.FileNames{Listing: "index.gmi", Pages: true}},
		Robots: scheme.Robots{File: "/robots.txt"},
		Plan:   plan,
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{env: env, hosts: &hosts{path: o.KnownHosts}, strict: o.Strict}
		},
		Menu:  menu,
		Query: query,
	}, spartan()}
}

const port = 1965

// maxURL is the maximum length of a URL in a request, in bytes.
const maxURL = 1024

// requestURL returns the URL that is sent to the server. It has no userinfo and
// no fragment.
func requestURL(u uri.URI) (string, error) {
	if u.Host() == "" {
		return "", fetch.BadURL.Errorf("no host")
	}
	u = u.WithoutUserinfo().WithoutFragment()
	if u.Path() == "" {
		var err error
		if u, err = u.WithPath("/"); err != nil {
			return "", fetch.BadURL.With(err)
		}
	}
	text := u.Unredacted()
	if len(text) > maxURL {
		return "", fetch.BadURL.Errorf("URL of %d bytes, longer than the maximum of %d", len(text), maxURL)
	}
	return text, nil
}

// plan returns the request line that the driver sends for req.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	text, err := requestURL(req.URL)
	if err != nil {
		return nil, err
	}
	return []scheme.Step{{Verb: "send", Arg: text}}, nil
}

// query returns the URL that sends the words of q as input to the document at
// u. The words replace the query of u.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	return u.WithoutFragment().WithQuery(uri.Escape(q.Words, uri.Unreserved))
}
