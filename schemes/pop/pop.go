// Package pop implements the schemes pop and pops (RFC 2384): mailboxes and
// messages of POP3 servers (RFC 1939). The names pop3 and pop3s of curl lead to
// the same objects.
//
// Pass the result of [Schemes] to fetch.New.
//
//	pop://H/     a listing of the messages in the mailbox of the user
//	pop://H/7    message 7
//
// The package never deletes a message. The numbers of messages may change when
// another program deletes messages.
package pop

import (
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// Options configures the schemes of this package. The zero value is valid.
type Options struct {
	// TLS is the TLS mode of pop and pop3 URLs. By default, the driver uses STLS
	// if the server supports it. The connections of pops and pop3s URLs always
	// use TLS.
	TLS scheme.TLSMode

	// Mechanism is the SASL mechanism for URLs that do not specify one. The
	// values "+APOP" and "+LOGIN" select the commands APOP and USER. The empty
	// value selects the best mechanism that the server offers.
	//
	// The value "*" works like the empty value, but permits one more fallback. If
	// the server rejects a mechanism that protects the password, the driver may
	// send the password in plaintext.
	Mechanism string
}

// OverrideMechanism is the setting that selects another mechanism. Its value is
// the name of the mechanism.
const OverrideMechanism override.Kind = "pop.Options.Mechanism"

const (
	plaintextPort = 110
	tlsPort       = 995
)

// Schemes returns the schemes pop, pops, pop3 and pop3s.
func Schemes(o Options) []fetch.Scheme {
	return []fetch.Scheme{
		o.scheme("pop", false), o.scheme("pops", true), o.scheme("pop3", false), o.scheme("pop3s", true),
	}
}

func (o Options) scheme(name string, implicit bool) fetch.Scheme {
	port := uint16(plaintextPort)
	if implicit {
		port = tlsPort
	}
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   help,
		Secure: implicit,
		Ports:  scheme.Ports{Extra: []uint16{plaintextPort, tlsPort}, Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{name}, Confined: true, From: []string{name}},
		Traits: scheme.Traits{Mailbox: true, ReportsSize: true, Listing: scheme.Mailbox},
		Mirror: scheme.Mirroring{Record: scheme.RecordReplies},
		User:   sasl.ParseUserinfo,
		Plan:   func(req *fetch.Request) ([]scheme.Step, error) { return o.plan(req, implicit) },
		Open: func(env fetch.Env) fetch.Driver {
			d := &driver{Options: o, env: env, port: port, implicitTLS: implicit}
			// An idle session locks the mailbox on many servers.
			d.idle.Done, d.idle.IdleTimeout, d.idle.WaitTimeout = env.Done, 10*time.Second, sessions.SlotTimeout
			return d
		},
		Menu: menu,
	}
}

// numberOf returns the number of the message that a URL names, or "" for the
// mailbox.
func numberOf(u uri.URI) (string, error) {
	if u.Host() == "" {
		return "", fetch.BadURL.Errorf("pop URL must have a host, such as pop://USER@HOST/")
	}
	if _, ok := u.Query(); ok {
		return "", fetch.BadURL.Errorf("pop URL must not have a query")
	}
	number := strings.TrimPrefix(u.Path(), "/")
	if strings.Trim(number, "0123456789") != "" || len(number) > 10 || number != "" && strings.Trim(number, "0") == "" {
		return "", fetch.BadURL.Errorf("the path of a pop URL is the number of a message")
	}
	return number, nil
}

// plan returns the commands for a request on a new connection.
func (o Options) plan(req *fetch.Request, implicit bool) ([]scheme.Step, error) {
	number, err := numberOf(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "CAPA"}}
	if !implicit && o.TLS != scheme.TLSNever {
		steps = append(steps, scheme.Step{Verb: "STLS"})
	}
	if req.Auth != nil {
		name := o.mechanism(req)
		if name == "" || name == "*" {
			name = "MECHANISM"
		}
		steps = append(steps, scheme.Step{Verb: "AUTH", Arg: name, Else: "USER", Secret: true})
	}
	switch {
	case number == "" && req.Op == fetch.Stat:
		steps = append(steps, scheme.Step{Verb: "STAT"})
	case number == "" || req.Op == fetch.Stat:
		steps = append(steps, scheme.Step{Verb: "LIST", Arg: number})
	default:
		steps = append(steps, scheme.Step{Verb: "RETR", Arg: number})
	}
	return steps, nil
}

// mechanism returns the mechanism that the URL or the Options select, in upper
// case. The result is "" for the best mechanism.
func (o Options) mechanism(req *fetch.Request) string {
	name := o.Mechanism
	if c, err := sasl.ParseUserinfo(req.URL); err == nil && c != nil && c.Mechanism != "" {
		name = c.Mechanism
	}
	if req.Auth != nil && req.Auth.Mechanism != "" {
		name = req.Auth.Mechanism
	}
	return strings.ToUpper(name)
}

var _ sessions.Session = (*session)(nil)
