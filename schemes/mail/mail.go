// Package mail dereferences imap, imaps, mid, cid and mailto URLs: mailboxes,
// the messages in them and the parts of those.
//
// Call Schemes and give the result to fetch.New.
//
//	imap://H/                              the mailboxes of a server, a listing
//	imap://H/INBOX                         its messages, a listing
//	imap://H/lists                         the mailboxes below a name without messages
//	imap://H/INBOX?SUBJECT%20tea           those that a search finds, a listing
//	imap://H/INBOX/;UID=7                  a message
//	imap://H/INBOX/;UID=7/;SECTION=2       a part of it, as it is encoded
//	imap://H/INBOX/;UID=7/;PARTIAL=0.1024  its first bytes
//	mid:ID@HOST                            a message, from Options.Stores
//	mid:ID@HOST/PART@HOST                  a part of it, decoded
//	cid:PART@HOST                          a part of the message of Options.In
//	mailto:ADDRESS                         messages from and to an address, a listing
//
// Nothing is changed on a server: mailboxes are opened by EXAMINE, messages
// read by BODY.PEEK. Nothing is ever sent to anybody.
//
// RFC 5092 (URLs of imap; MAILINDEX is curl's), RFC 3501 (IMAP), RFC 4731
// (ESEARCH), RFC 7888 (LITERAL+), RFC 2392 (mid, cid), RFC 6068 and RFC 1738
// 3.5 (mailto).
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

// Options say how servers are spoken to and where messages are kept. The zero
// value is right for imap URLs.
type Options struct {
	// TLS is the mode of imap, by default before a login if the server can.
	// Imaps is always encrypted.
	TLS fetch.TLSMode

	// Mechanism is how a login is proved where the URL does not say: the name
	// of a SASL mechanism, "+LOGIN" for the command, "" for the best that the
	// server has. "*" also sends the password in plaintext after the server
	// has refused a mechanism that keeps it secret.
	Mechanism string

	// Anonymous is what a server that lets anybody in is told in place of a
	// mail address; "" is "fetch@".
	Anonymous string

	// Stores are where mid and mailto look for messages, in this order: a URL
	// of imap or imaps (of a mailbox, or of a server whose INBOX is meant), a
	// directory that is a Maildir, or a file that is an mbox.
	Stores []string

	// StoreLogin is asked for the login of a store whose URL has no password;
	// nil: there is none.
	StoreLogin fetch.LoginFunc

	// In brings the message whose parts cid URLs name; nil: there is none.
	In func(ctx context.Context) (*fetch.Response, error)

	// Mbox has mailto, mailboxes and searches bring the messages themselves, as
	// an mbox, and not a listing of them.
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

// The ports of RFC 3501 and RFC 8314.
const (
	plaintextPort = 143
	tlsPort       = 993
)

// Schemes returns imap, imaps, mid, cid and mailto.
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

// A lookup carries out a request in stores.
type driverFactory func(env fetch.Env) fetch.DriverFunc

// lookup is a scheme whose URLs name no server.
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
