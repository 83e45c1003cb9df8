// Package dict implements the dict scheme, which names definitions of words in
// dictionaries (RFC 2229).
//
// Pass the result of [Schemes] to fetch.New. A URL with "d:" names a document
// with the definitions of a word. A URL with "m:" names a listing of the words
// that match a word. A URL without a path names the listing of the databases.
// A database is a search index.
package dict

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// port is the default port.
const port = 2628

// Schemes returns the scheme dict.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "dict",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"dict"}},
		Traits: scheme.Traits{ReportsSize: true},
		Mirror: scheme.Mirroring{Record: scheme.RecordSent},
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env} },
		Menu:   menu,
		Query:  query,
		User:   credential,
	}}
}

// client is the program name that the command CLIENT sends.
const client = "fetch"

// plan returns the commands that the driver sends for req.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	switch {
	case err != nil:
		return nil, err
	case req.Op == fetch.Stat:
		return nil, nil
	case l.word == "" && l.isQuery():
		return nil, errNoWord
	}
	c, err := l.command()
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "CLIENT", Arg: client}}
	if auth, err := login(req); err != nil {
		return nil, err
	} else if auth != nil {
		steps = append(steps, scheme.Step{Verb: "AUTH " + auth.User, Secret: true})
	}
	return append(steps, c.step(), scheme.Step{Verb: "QUIT"}), nil
}
