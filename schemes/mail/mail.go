// Package mail implements the URL schemes imap, imaps, mid, cid and mailto.
// These URLs retrieve mailboxes, messages and parts of messages.
//
// To use the schemes, pass the result of [Schemes] to [fetch.New].
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
// The package never sends mail. It never changes a mailbox, because it uses the
// read-only commands EXAMINE and BODY.PEEK.
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
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the URL schemes of this package. The zero value is
// sufficient for imap URLs.
type Options struct {
	// TLS is the TLS mode for imap URLs. By default, the driver uses STARTTLS
	// if the server supports it. For imaps URLs, the connection always uses
	// TLS.
	TLS scheme.TLSMode

	// Mechanism is the SASL mechanism for URLs that do not specify a mechanism.
	// The value "+LOGIN" selects the LOGIN command. The empty value selects the
	// best mechanism that the server offers.
	//
	// The value "*" works like the empty value, but permits one more fallback.
	// If the server rejects a mechanism that protects the password, the driver
	// may send the password in plaintext.
	Mechanism string

	// Anonymous is the mail address that is sent for anonymous logins. The
	// default is "fetch@".
	Anonymous string

	// Stores lists the mail stores that mid, cid and mailto URLs search, in
	// order. A store is an imap or imaps URL, a Maildir directory, or an mbox
	// file. If the URL names a server but no mailbox, the store is INBOX.
	Stores []string

	// StoreLogin returns credentials for a store URL without a password. If it
	// is nil, no password is requested from the user.
	StoreLogin fetch.LoginFunc

	// In returns the message that contains the parts named by cid URLs. If In
	// is nil, a cid URL can be retrieved only as a link in a mid message.
	In func(ctx context.Context) (*fetch.Response, error)

	// If Mbox is true, mailboxes, searches and mailto URLs return messages in
	// the mbox format instead of listings.
	Mbox bool
}

// These [override.Kind] values name options of this package. An error uses
// them to name the option that permits a failed request.
const (
	OverrideMechanism override.Kind = "mail.Options.Mechanism" // Value is the name of a mechanism
	OverrideStores    override.Kind = "mail.Options.Stores"
	OverrideIn        override.Kind = "mail.Options.In"
)

// needOption returns an error that wraps err and names the option that the user
// must set.
func needOption(err error, kind override.Kind, value string) error {
	return override.With(err, override.Setting{Kind: kind, Value: value})
}

// Default ports (RFC 3501, RFC 8314).
const (
	plaintextPort = 143
	tlsPort       = 993
)

// Schemes returns the URL schemes imap, imaps, mid, cid and mailto, configured
// by opts.
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
		Ports:  scheme.Ports{Extra: []uint16{plaintextPort, tlsPort}, Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"imap", "imaps"}, Confined: true, From: []string{"imap"}},
		Traits: scheme.Traits{Mailbox: true, ReportsSize: true, Listing: scheme.Mailbox, Parents: scheme.Levels},
		Mirror: scheme.Mirroring{Immutable: isPermanent, Subtree: mirrorScope},
		User:   sasl.ParseUserinfo,
		Plan:   func(req *fetch.Request) ([]scheme.Step, error) { return o.plan(req, implicit) },
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

// A driverFactory creates the driver of a scheme that searches mail stores.
type driverFactory func(env fetch.Env) fetch.DriverFunc

// lookupScheme returns the definition of the scheme mid, cid or mailto. The
// URLs of these schemes do not name a server.
func (o Options) lookupScheme(name string, menu menu, plan planner, open driverFactory) fetch.Scheme {
	links := scheme.Links{To: []string{"mid", "cid"}, Confined: true}
	if name != "mailto" {
		links.From = []string{"mid", "cid", "mailto"}
	}
	return fetch.Scheme{
		Name:   name,
		Help:   lookupHelp,
		Local:  true,
		Links:  links,
		Traits: scheme.Traits{ReportsSize: true},
		Mirror: scheme.Mirroring{Alias: true, Subtree: mirrorScope},
		Trust:  o.storeAddresses(),
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return open(env) },
		Menu:   menu,
	}
}

type (
	menu    = func(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error]
	planner = func(req *fetch.Request) ([]scheme.Step, error)
)
