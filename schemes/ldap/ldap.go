// Package ldap implements ldap, ldaps and x500 URLs: entries of directories
// (RFC 4516).
//
// Pass the result of Schemes to fetch.New. A URL has this form:
//
//	ldap://H/DN?ATTRIBUTES?SCOPE?FILTER?EXTENSIONS
//
// The body is LDIF (RFC 2849). With the scope "base", the default, the object
// is the entry DN, a document. With "one" or "sub", the object is a listing of
// the entries below DN that match the filter. Without DN, the object is a
// listing of the directories of the server. A reference to another server is a
// comment in LDIF, and an entry of the listing.
//
// In x500 URLs, the DN may be written from the root, as in x500://H/c=GB/o=Example.
package ldap

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes. The zero value is valid.
type Options struct {
	// TLS controls whether ldap and x500 connections use StartTLS. The default
	// is not to encrypt.
	TLS scheme.TLSMode
}

// Schemes returns the schemes ldap, ldaps and x500.
func Schemes(o Options) []fetch.Scheme {
	plain := fetch.Scheme{
		Name:   "ldap",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Extra: []uint16{3268}, Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"ldap", "ldaps"}},
		Traits: scheme.Traits{ReportsSize: true},
		Mirror: scheme.Mirroring{
			References: true,
			Subtree:    func(u uri.URI) (uri.URI, bool) { return u.WithoutQuery(), true },
		},
		Plan: o.plan,
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{Options: o, env: env, idle: sessions.Pool[*session]{Done: env.Done}}
		},
		Menu:  menu,
		Query: query,
	}
	secure, x500 := plain, plain
	secure.Name, secure.Port, secure.Secure = "ldaps", securePort, true
	secure.Ports.Extra = []uint16{3269}
	secure.Links = scheme.Links{To: []string{"ldaps"}, Downgrade: []string{"ldap"}}
	x500.Name = x500Scheme
	return []fetch.Scheme{plain, secure, x500}
}

const (
	port       = 389
	securePort = 636
	x500Scheme = "x500"
	proto      = "LDAPv3"
)
