// Package telnet implements the telnet, rlogin and tn3270 schemes. A telnet or
// rlogin URL names an interactive session, and a tn3270 URL names the first
// screen of a host.
//
// Pass the result of [Schemes] to fetch.New. The Response for a telnet or
// rlogin URL (RFC 1738 section 3.8) has Input, Body and, if the protocol
// supports window sizes, Resize. Bytes written to Input are sent to the server.
// Body returns the output of the server without changes. Input and Body may be
// used concurrently by one goroutine each. Closing Input closes the sending
// direction of the connection. Closing Body closes the connection.
//
// Servers request the window size once, at the start of a session. Call Resize
// before the first read of Body. An rlogin server expects a connection from a
// reserved port, which the Dial function of fetch.Options must provide. User
// name and password of a telnet URL are reported to Request.Trace and not sent.
//
// The Response for a tn3270 URL is a document with the first screen of the
// host, as UTF-8 text or as JSON.
//
// The package implements RFC 4248 (telnet URLs), RFC 854, 855 and 1143
// (options), RFC 856 (binary), RFC 857 (echo), RFC 858 (suppress go ahead), RFC
// 1073 (window size), RFC 1091 (terminal type), RFC 1282 (rlogin), RFC 1576
// (tn3270) and IBM GA23-0059 (3270 data stream).
package telnet

import (
	"context"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// Options configures telnet, rlogin and tn3270 sessions. The zero value is
// valid for programs that do not use a terminal.
type Options struct {
	Terminal string // terminal type to send on request, in visible ASCII; "" means "XTERM"

	// Mode, if not nil, enables the handling of keyboard input. The Enter key
	// is then sent as the line end that the server expects. Mode is called when
	// a session begins and each time the server changes the input mode. It is
	// called from the goroutine that opens the session or reads Body, and must
	// not use the session. If Mode is nil, Input is sent without changes.
	Mode func(Mode)

	// Idle is the time after which Body returns io.EOF if the server sends no
	// data. Zero means no limit.
	Idle time.Duration

	// LocalUser is the local user name that is sent to rlogin servers. If it is
	// empty, the user name of the URL is sent, so that the name of the local
	// user is not disclosed.
	LocalUser string

	// Settle is the time without changes after which a tn3270 screen is treated
	// as complete. Zero means half a second.
	Settle time.Duration

	CodePage int  // code page of tn3270 hosts, 37 or 1047; 0 means 37
	JSON     bool // return tn3270 screens as JSON; see Screen
}

// Schemes returns the schemes telnet, rlogin and tn3270.
func Schemes(opts Options) []fetch.Scheme {
	return []fetch.Scheme{
		opts.scheme("telnet", 23, telnetPlan, opts.telnet),
		opts.scheme("rlogin", 513, opts.rloginPlan, opts.rlogin),
		opts.scheme("tn3270", 23, screenPlan, opts.tn3270),
	}
}

// maxTerminal is the maximum length of a terminal type (RFC 1700).
const maxTerminal = 40

// validate returns an error if a terminal type or user name contains bytes with
// a meaning in the protocol, such as IAC or NUL.
func (o Options) validate() error {
	invisible := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	switch {
	case len(o.Terminal) > maxTerminal || strings.ContainsFunc(o.Terminal, invisible):
		return fetch.Usage.Errorf("terminal type must be at most %d visible ASCII characters, such as VT100", maxTerminal)
	case strings.ContainsFunc(o.LocalUser, invisible):
		return fetch.Usage.Errorf("invalid local user name: must be visible ASCII characters")
	}
	return nil
}

type (
	planner = func(req *fetch.Request) ([]scheme.Step, error)
	opener  = func(ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request) (*fetch.Response, error)
)

func (o Options) scheme(name string, port uint16, plan planner, open opener) fetch.Scheme {
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.SessionPorts},
		Links:  scheme.Links{Confined: true},
		Traits: scheme.Traits{Session: true, ReportsSize: true},
		Plan: func(req *fetch.Request) ([]scheme.Step, error) {
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
