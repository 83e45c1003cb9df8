// Package telnet joins telnet and rlogin URLs to the service that they name,
// and brings the first screen of a tn3270 host.
//
// Call Schemes and give the result to fetch.New. A telnet or rlogin URL is no
// object but a session (RFC 1738 3.8): its Response has Input and Body, and
// Resize where the window counts. What is written to Input goes to the peer,
// what the peer sends is Body, byte for byte; both may be used at once, by one
// goroutine each. Closing Input ends our side alone, closing Body all of it.
// Peers ask for the size of the window early and once: call Resize before Body
// is read. Servers of rlogin want to be called from a reserved port: give Dial
// to fetch.Options.
// User and password of the URL are advice to a person: they are told by
// Request.Trace, and not sent.
//
// A tn3270 URL brings a document: what the host shows first, as text in UTF-8
// or as JSON.
//
// RFC 4248 (telnet URLs), RFC 854, 855, 1143 (options), 856 (binary), 857
// (echo), 858 (go ahead), 1073 (window size), 1091 (terminal type), RFC 1282
// (rlogin), RFC 1576 (tn3270), IBM GA23-0059 (the 3270 data stream).
package telnet

import (
	"context"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Options say how sessions are led. The zero value is right for programs.
type Options struct {
	Terminal string // the type that a peer who asks is told, in visible ASCII; "" is "XTERM"

	// Mode, where it is not nil, says that Input is what a person types on a
	// terminal, and is told how: when a session begins and whenever its peer
	// changes that, by whoever opens the session or reads Body; it must not use
	// the session. The key Enter then goes out as the peer wants it. Else bytes
	// go as they are.
	Mode func(Mode)

	// Idle ends a session, as the peer's close does, when nothing has come for
	// so long; 0: never.
	Idle time.Duration

	// LocalUser is who asks, for rlogin; "" is the user of the URL: who runs
	// this program is nobody's affair.
	LocalUser string

	// Settle is how long the screen of a tn3270 host must stay as it is to be
	// the first; 0 is half a second.
	Settle time.Duration

	CodePage int  // of tn3270 hosts: 37 or 1047; 0 is 37
	JSON     bool // the screen as a Screen, in JSON
}

// Schemes returns telnet, rlogin and tn3270.
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{
		opts.scheme("telnet", 23, telnetPlan, opts.telnet),
		opts.scheme("rlogin", 513, opts.rloginPlan, opts.rlogin),
		opts.scheme("tn3270", 23, screenPlan, opts.tn3270),
	}
}

// maxTerminal bounds a terminal type: RFC 1700 allows 40 characters.
const maxTerminal = 40

// validate returns an error for text that would change the protocol: IAC in a
// terminal type, or NUL in a user.
func (o Options) validate() error {
	invisible := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	switch {
	case len(o.Terminal) > maxTerminal || strings.ContainsFunc(o.Terminal, invisible):
		return fetch.Usage.Errorf("terminal type is not 1 to %d visible ASCII characters, such as VT100", maxTerminal)
	case strings.ContainsFunc(o.LocalUser, invisible):
		return fetch.Usage.Errorf("local user is not visible ASCII")
	}
	return nil
}

type (
	planner = func(req *fetch.Request) ([]fetch.Step, error)
	opener  = func(ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request) (*fetch.Response, error)
)

func (o Options) scheme(name string, port uint16, plan planner, open opener) fetch.Scheme {
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  fetch.Ports{Class: fetch.SessionPorts},
		Links:  fetch.Links{Confined: true},
		Traits: fetch.Traits{Session: true, Sizes: true},
		Plan: func(req *fetch.Request) ([]fetch.Step, error) {
			if _, err := o.target(req, port); err != nil {
				return nil, err
			}
			return plan(req)
		},
		Open: func(env fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				t, err := o.target(req, port)
				if err != nil {
					return nil, err
				}
				return open(ctx, env, t, req)
			})
		},
	}
}
