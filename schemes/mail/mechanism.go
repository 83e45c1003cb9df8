package mail

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A mechanism is a way to log in.
type mechanism struct {
	name      string
	clear     bool // shows the secret to whoever listens
	token     bool // takes Credential.Token
	anonymous bool // for nobody
	never     bool // unless asked for by name
	command   bool // is LOGIN, not AUTHENTICATE
	start     func(d *driver, auth *fetch.Credential) exchange
}

// mechanisms are those that we know, the best first.
var mechanisms = []mechanism{
	{name: "EXTERNAL", never: true, start: external},
	{name: "OAUTHBEARER", clear: true, token: true, start: oauthBearer},
	{name: "XOAUTH2", clear: true, token: true, start: xoauth2},
	{name: "SCRAM-SHA-256", start: scramSHA256},
	{name: "SCRAM-SHA-1", start: scramSHA1},
	{name: "CRAM-MD5", start: cramMD5},
	{name: "PLAIN", clear: true, start: plain},
	{name: "LOGIN", clear: true, start: loginWords},
	{name: "+LOGIN", clear: true, command: true},
	{name: "ANONYMOUS", anonymous: true, start: anonymousToken},
	{name: "+ANONYMOUS", anonymous: true, command: true},
}

// prove logs in by the mechanisms that the server offers, the best first, and
// returns the answer that decides. The next mechanism is tried where the client
// cannot complete one, and where the server refuses one that kept the password
// secret: servers announce mechanisms for which they have no password. Such a
// refusal sends no password in plaintext, unless the user asked for any
// mechanism ("*"). option names the mechanism that was not tried for this.
func (d *driver) prove(s *session, who login) (a answer, option string, err error) {
	asked := strings.ToUpper(who.mechanism)
	var no *answer // of the mechanism before
	var last error // or why it was given up
	for _, m := range mechanisms {
		if wanted, err := m.wanted(asked, who.auth); err != nil {
			return a, "", err
		} else if !wanted || !m.offered(s) {
			continue
		}
		if no != nil && m.clear && s.TLS == nil && asked != "*" {
			return *no, m.name, nil
		}
		if no != nil {
			s.Trace().Notef("login refused by the server: trying %s", m.name)
		}
		if err := s.mayTell(m, who); err != nil {
			return a, "", err
		}
		a, err := m.run(d, s, who.auth)
		switch {
		case err != nil && s.IsBroken() && no != nil:
			return *no, "", nil // and it closed the connection
		case err != nil && s.IsBroken():
			return a, "", err
		case err != nil:
			last = err
			s.Trace().Notef("%s given up: %v", m.name, err)
		case a.status == "OK" || m.clear || !a.mayDiffer():
			return a, "", nil
		default:
			no = &a
		}
	}
	if no != nil {
		return *no, "", nil
	}
	err = noMechanism(asked, who.auth, last)
	if option := s.offers(who.auth); last == nil && asked != "" && option != "" {
		err = needOption(err, OverrideMechanism, option)
	}
	return a, "", err
}

// offers returns the best mechanism that the server offers for auth, or "".
func (s *session) offers(auth *fetch.Credential) string {
	for _, m := range mechanisms {
		if ok, _ := m.wanted("", auth); ok && m.offered(s) {
			return m.name
		}
	}
	return ""
}

// noMechanism is the error where none was left to try.
func noMechanism(asked string, auth *fetch.Credential, last error) error {
	switch {
	case last != nil:
		return fetch.Auth.With(last)
	case asked != "" && asked != "*":
		return fetch.Auth.Errorf("server offers no login by %s", asked)
	case auth == nil:
		return fetch.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server wants a login, and the URL names no user"))
	}
	return fetch.Auth.Errorf("server offers no login that we know")
}

// wanted reports whether m may be tried for a login by asked.
func (m mechanism) wanted(asked string, auth *fetch.Credential) (bool, error) {
	switch {
	case asked == "" || asked == "*":
		return !m.never && m.anonymous == (auth == nil) && m.token == (auth != nil && auth.Token != ""), nil
	case m.name != asked:
		return false, nil
	case auth == nil && !m.anonymous && m.name != "EXTERNAL":
		return false, fetch.NeedLogin(fetch.Auth, fetch.Auth.Errorf("login by %s without a user", asked))
	}
	return true, nil
}

// mayDiffer reports whether a, which refuses a login, may be about the
// mechanism alone.
func (a answer) mayDiffer() bool {
	fault := fetch.FaultOf(refused("login", fetch.Auth, a))
	return !a.final && (fault == fetch.Auth || fault == fetch.Protocol)
}

// mayTell sees to it that a secret does not go out in clear without a person
// who wants that.
func (s *session) mayTell(m mechanism, who login) error {
	switch {
	case s.TLS != nil || !m.clear || m.anonymous:
		return nil
	case !who.typed:
		return fetch.Auth.Errorf("a server led here, and the password would go in clear")
	}
	s.Trace().Notef("password sent in clear text")
	return nil
}

func (m mechanism) offered(s *session) bool {
	if m.command {
		return !s.caps["LOGINDISABLED"]
	}
	return s.caps["AUTH="+m.name]
}

// run goes one way. What the server could do before the login is forgotten
// once it is made.
func (m mechanism) run(d *driver, s *session, auth *fetch.Credential) (a answer, err error) {
	caps := s.caps
	s.caps = nil
	switch {
	case !m.command:
		a, err = s.authenticate(m.name, m.start(d, auth), caps["SASL-IR"])
	case m.anonymous:
		a, err = s.login("anonymous", d.anonymous())
	default:
		a, err = s.login(auth.User, auth.Password.Reveal())
	}
	if s.caps == nil && a.status != "OK" {
		s.caps = caps
	}
	return a, err
}
