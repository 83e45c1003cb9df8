// Package mailserver implements plans for the mailserver scheme, which names
// documents that a mail server sends on request. It follows RFC 1738 section 5,
// and the Internet-Draft draft-ietf-uri-url-mailserver-01 of 1995.
//
// The plan of a URL is the message that requests the document. This module sends
// no mail, so every request fails with the Fault Unsupported.
package mailserver

import (
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// Schemes returns the scheme mailserver.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "mailserver",
		Help:   help,
		Links:  scheme.Links{Confined: true},
		Traits: scheme.Traits{ReportsSize: true},
		Proxy:  scheme.ByDriver,
		Plan:   plan,
		Open:   func(fetch.Env) fetch.Driver { return fetch.DriverFunc(refuse) },
	}}
}

// help is the help text about mailserver URLs.
const help = `mailserver:ADDRESS/SUBJECT/BODY   RFC 1738 5, draft-ietf-uri-url-mailserver-01

A document that a mail server sends on request. fetch sends no mail. fetch plan
prints the message that requests the document. In BODY, / separates lines.`

// plan returns the header fields and the lines of the message that requests the
// document.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	m, err := parse(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "To:", Arg: m.to}, {Verb: "Subject:", Arg: m.subject}}
	for _, line := range m.body {
		steps = append(steps, scheme.Step{Verb: "body", Arg: line})
	}
	return steps, nil
}

func refuse(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
	m, err := parse(req.URL)
	if err != nil {
		return nil, err
	}
	return nil, fetch.Unsupported.Errorf("this program sends no mail: send the message of the plan to %s", m.to)
}

// A message is a request to a mail server.
type message struct {
	to, subject string
	body        []string // lines
}

// parse parses a URL of the form mailserver:ADDRESS/SUBJECT/BODY. Each "/" in
// BODY is a line end.
func parse(u uri.URI) (m message, err error) {
	if _, ok := u.Query(); ok || u.HasAuthority() {
		return m, errForm
	}
	parts := strings.Split(u.Path(), "/")
	for i, p := range parts {
		if parts[i], err = uri.Unescape(p); err != nil {
			return m, fetch.BadURL.With(err)
		}
		if textform.HasControl(parts[i]) {
			return m, fetch.BadURL.Errorf("control character in a mailserver URL: write / for a line end of the body")
		}
	}
	m.to = parts[0]
	if user, host, ok := strings.Cut(m.to, "@"); !ok || user == "" || host == "" || strings.ContainsAny(m.to, " ,;<>\"") {
		return m, errForm
	}
	if len(parts) > 1 {
		m.subject, m.body = parts[1], parts[2:]
	}
	return m, nil
}

var errForm = fetch.BadURL.Errorf("mailserver URL must be mailserver:ADDRESS/SUBJECT/BODY")
