package main

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

// typed reads what a person typed for a URL: letters of any script, and hosts
// without a scheme. What was made of it, and what may mislead, is said.
func (a *app) typed(text string) (uri.URI, error) {
	u, guessed, err := a.taken(text)
	if err != nil {
		return u, &fetch.Error{Op: "parse", Err: fetch.BadURL.With(err)}
	}
	if guessed {
		a.note("taken for %s", u)
	}
	if iri.Notes(u) != "" {
		a.note("the URL is %s", iri.Display(u))
	}
	return u, nil
}

// taken is what text is taken for, and whether its scheme was guessed.
func (a *app) taken(text string) (u uri.URI, guessed bool, err error) {
	u, guessed, err = iri.Guess(text, a.flags.protoDefault)
	if front, fragment, ok := strings.Cut(text, "#"); err != nil && ok && strings.Contains(fragment, "#") {
		// As browsers and curl: the fragment is for the reader, and no server sees it.
		u, guessed, err = iri.Guess(front+"#"+strings.ReplaceAll(fragment, "#", "%23"), a.flags.protoDefault)
	}
	return u, guessed, err
}
