// Package mail implements the URL schemes imap, imaps, mid, cid and mailto.
// They retrieve mailboxes, messages and parts of messages.
//
// Call [Schemes] and pass the result to [fetch.New].
//
//	imap://H/                              a listing of the mailboxes of a server
//	imap://H/INBOX                         a listing of the messages in a mailbox
//	imap://H/lists                         a listing of the mailboxes below "lists"
//	imap://H/INBOX?SUBJECT%20tea           a listing of the messages that a search finds
//	imap://H/INBOX/;UID=7                  a message
//	imap://H/INBOX/;UID=7/;SECTION=2       a part of a message, not decoded
//	imap://H/INBOX/;UID=7/;PARTIAL=0.1024  the first 1024 bytes of a message
//	mid:ID@HOST                            a message in Options.Stores
//	mid:ID@HOST/PART@HOST                  a part of a message, decoded
//	cid:PART@HOST                          a part of the message that Options.In returns
//	mailto:ADDRESS                         a listing of the messages from and to an address
//
// The package never changes mailboxes: it uses EXAMINE and BODY.PEEK. It never
// sends mail.
//
// It implements RFC 5092 (imap URLs, with the MAILINDEX parameter of curl),
// RFC 3501 (IMAP), RFC 4731 (ESEARCH), RFC 7888 (LITERAL+), RFC 2392 (mid and
// cid), RFC 6068 and RFC 1738 3.5 (mailto).
package mail

import (
	"context"
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/entries"
	"github.com/anyurl/fetch/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes. The zero value is suitable for imap URLs.
type Options struct {
	// TLS is the TLS mode of imap URLs. By default, the driver uses STARTTLS if
	// the server supports it. Connections of imaps URLs always use TLS.
	TLS fetch.TLSMode

	// Mechanism is the authentication method for URLs that do not specify a
	// method: a SASL mechanism, "+LOGIN" for the LOGIN command, or "" for the
	// best method that the server offers. With "*", the driver may also send
	// the password in plaintext after the server has rejected a mechanism that
	// protects the password.
	Mechanism string

	// Anonymous is the mail address for anonymous logins. The default is
	// "fetch@".
	Anonymous string

	// Stores lists the mail stores that mid, cid and mailto URLs search, in
	// order. A store is an imap or imaps URL of a mailbox or a server, a
	// Maildir directory, or an mbox file. The URL of a server means its INBOX.
	Stores []string

	// StoreLogin returns credentials for a store URL without a password. If it
	// is nil, such a store is used without prompting.
	StoreLogin fetch.LoginFunc

	// In returns the message that contains the parts named by cid URLs. If it
	// is nil, only cid links within a mid message are resolved.
	In func(ctx context.Context) (*fetch.Response, error)

	// If Mbox is true, requests for mailboxes, searches and mailto URLs return
	// the messages in the mbox format. Otherwise they return listings.
	Mbox bool
}

// The kinds of [fetch.Override] for the options of this package.
const (
	OverrideMechanism fetch.OverrideKind = "mail.Options.Mechanism" // Value is a mechanism; an imap URL can name it too
	OverrideStores    fetch.OverrideKind = "mail.Options.Stores"
	OverrideIn        fetch.OverrideKind = "mail.Options.In"
)

// needOption returns err with the option of this package that avoids it.
func needOption(err error, kind fetch.OverrideKind, value string) error {
	return &fetch.Remedy{Err: err, Override: fetch.Override{Kind: kind, Value: value}}
}

// Default ports (RFC 3501, RFC 8314).
const (
	plaintextPort = 143
	tlsPort       = 993
)

// Schemes returns the schemes imap, imaps, mid, cid and mailto.
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{
		opts.imap("imap", plaintextPort, false),
		opts.imap("imaps", tlsPort, true),
		opts.lookupScheme("mid", nil, midPlan, opts.mid),
		opts.lookupScheme("cid", nil, cidPlan, opts.cid),
		opts.lookupScheme("mailto", entries.Menu, opts.mailtoPlan, opts.mailto),
	}
}

func (o Options) imap(name string, port uint16, implicit bool) fetch.Scheme {
	s := fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Secure: implicit,
		Ports:  fetch.Ports{Extra: []uint16{plaintextPort, tlsPort}, Class: fetch.TextPorts},
		Links:  fetch.Links{To: []string{"imap", "imaps"}, Confined: true, From: []string{"imap"}},
		Traits: fetch.Traits{Mailbox: true, ReportsSize: true},
		Mirror: fetch.Mirroring{Immutable: isPermanent, Subtree: mirrorScope},
		User:   parseUserinfo,
		Plan:   func(req *fetch.Request) ([]fetch.Step, error) { return o.plan(req, implicit) },
		Open: func(env fetch.Env) fetch.Driver {
			return &driver{
				Options:     o,
				env:         env,
				port:        port,
				implicitTLS: implicit,
				idle:        sessions.Pool[*session]{Done: env.Done},
			}
		},
		Menu:  entries.Menu,
		Query: searchURL,
	}
	if implicit {
		s.Links.To, s.Links.From = []string{"imaps"}, []string{"imap", "imaps"}
	}
	return s
}

// A driverFactory returns the driver of a scheme that searches mail stores.
type driverFactory func(env fetch.Env) fetch.DriverFunc

// lookupScheme returns a scheme with URLs that do not name a server.
func (o Options) lookupScheme(name string, menu menu, plan planner, open driverFactory) fetch.Scheme {
	links := fetch.Links{To: []string{"mid", "cid"}, Confined: true}
	if name != "mailto" {
		links.From = []string{"mid", "cid", "mailto"}
	}
	return fetch.Scheme{
		Name:   name,
		Help:   lookupHelp,
		Local:  true,
		Links:  links,
		Traits: fetch.Traits{ReportsSize: true},
		Mirror: fetch.Mirroring{Alias: true, Subtree: mirrorScope},
		Trust:  o.trust(),
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return open(env) },
		Menu:   menu,
	}
}

type (
	menu    = func(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error]
	planner = func(req *fetch.Request) ([]fetch.Step, error)
)
